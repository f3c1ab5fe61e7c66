import tempfile
import unittest
from pathlib import Path

from archive.store import NotesArchive


class NotesArchiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.archive = NotesArchive(Path(folder.name))

    def test_loads_a_plain_note(self):
        self.archive.save("Shopping", "bread and butter")
        self.assertEqual(self.archive.load("Shopping"), "bread and butter")

    def test_loads_a_note_with_accents(self):
        self.archive.save("Menu", "crème brûlée")
        self.assertEqual(self.archive.load("Menu"), "crème brûlée")

    def test_loads_a_note_in_another_script(self):
        self.archive.save("Travel", "京都へ行く")
        self.assertEqual(self.archive.load("Travel"), "京都へ行く")

    def test_finds_notes_by_a_word(self):
        self.archive.save("Monday", "call the roofer")
        self.archive.save("Tuesday", "pay the rent")
        self.assertEqual(self.archive.titles_with("Roofer"), ["monday"])


if __name__ == "__main__":
    unittest.main()
