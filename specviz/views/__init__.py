"""From records to what a screen can show: plain data for the browser, colours, marks, empty charts.

No torch, no gradio. What moves on the page is drawn by `assets/*.js`;
this room only says what there is to draw and in which colours.
"""
