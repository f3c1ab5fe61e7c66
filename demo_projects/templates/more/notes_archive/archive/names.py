import re


def file_name(title: str) -> str:
    slug = re.sub(r"\W+", "-", title.lower()).strip("-")
    return f"{slug or 'untitled'}.txt"
