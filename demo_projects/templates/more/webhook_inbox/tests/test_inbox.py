import json
import unittest

from inbox.filing import Inbox


class InboxTest(unittest.TestCase):
    def setUp(self):
        self.inbox = Inbox()

    def accept(self, **delivery):
        return self.inbox.accept(json.dumps(delivery))

    def test_files_a_delivery_under_its_topic(self):
        self.accept(id="d1", topic="payments")
        self.assertEqual(self.inbox.folders, {"payments": ["d1"]})

    def test_files_an_empty_topic_under_general(self):
        self.accept(id="d1", topic="")
        self.assertEqual(self.inbox.folders, {"general": ["d1"]})

    def test_files_a_delivery_without_a_topic_under_general(self):
        self.accept(id="d1")
        self.assertEqual(self.inbox.folders, {"general": ["d1"]})

    def test_takes_the_same_delivery_once(self):
        self.assertTrue(self.accept(id="d1", topic="payments"))
        self.assertFalse(self.accept(id="d1", topic="payments"))

    def test_refuses_a_delivery_without_an_id(self):
        with self.assertRaisesRegex(ValueError, "needs an id"):
            self.accept(topic="payments")


if __name__ == "__main__":
    unittest.main()
