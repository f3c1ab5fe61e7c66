import unittest

from planner.order import CircularSteps, build_order
from planner.plan import plan


class PlanTest(unittest.TestCase):
    def test_steps_without_needs_come_by_name(self):
        self.assertEqual(plan("lint:\ndocs:\n"), "1. docs\n2. lint")

    def test_a_step_comes_after_the_one_it_needs(self):
        self.assertEqual(build_order({"test": ["lint"], "lint": []}), ["lint", "test"])

    def test_a_chain_of_single_needs_is_followed(self):
        steps = {
            "archive": ["package"],
            "package": ["compile"],
            "compile": [],
        }
        self.assertEqual(build_order(steps), ["compile", "package", "archive"])

    def test_a_step_with_few_needs_waits_for_one_with_many(self):
        steps = {
            "announce": ["release"],
            "release": ["docs", "compile"],
            "docs": [],
            "compile": [],
        }
        expected = ["compile", "docs", "release", "announce"]
        self.assertEqual(build_order(steps), expected)

    def test_steps_in_a_circle_are_refused(self):
        steps = {"hen": ["egg"], "egg": ["hen"]}
        with self.assertRaises(CircularSteps):
            build_order(steps)


if __name__ == "__main__":
    unittest.main()
