from __future__ import annotations

from pathlib import Path

from archive.names import file_name


class NotesArchive:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, title: str, text: str) -> Path:
        path = self.folder / file_name(title)
        path.write_text(text, encoding="utf-8")
        return path

    def load(self, title: str) -> str:
        path = self.folder / file_name(title)
        return path.read_text(encoding="latin-1")

    def titles_with(self, word: str) -> list[str]:
        wanted = word.casefold()
        return sorted(
            path.stem
            for path in self.folder.glob("*.txt")
            if wanted in self.load(path.stem).casefold()
        )
