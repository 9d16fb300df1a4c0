"""How tokens are decoded. `algorithm` states the method in the papers' letters."""
