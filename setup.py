"""What pyproject.toml cannot state: in a wheel, assets/ lies inside the package, as specviz/assets."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["specviz", "specviz.*"]), "specviz.assets"],
    package_dir={"specviz.assets": "assets"},
    package_data={"specviz": ["py.typed"], "specviz.assets": ["**/*"]},
)
