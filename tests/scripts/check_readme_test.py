import unittest

from planted_tree import PlantedTreeTest

CAUSES = '''
    CauseInfo{kClientGone, "client_gone", 0, "", "", kInfo, RetryClass::kNo, ""},
    CauseInfo{kTruncated, "truncated", 502, "server_error", "api_error",
              kWarning, RetryClass::kByPolicy,
              "the answer ended before "
              "it was complete"},
'''
README = '''# A title
<!-- causes: written by scripts/check_readme --write -->
| cause | status | OpenAI type | Anthropic type | log level | another attempt | to the client |
|---|---|---|---|---|---|---|
| `client_gone` | – | – | – | INFO | no | – |
| `truncated` | 502 | server_error | api_error | WARNING | by policy | the answer ended before it was complete |
<!-- end of causes -->
The rest.
'''


class CheckReadmeTest(PlantedTreeTest):
    script = "check_readme"

    def test_passes_a_table_that_agrees(self):
        self.assert_passes({"README.md": README, "lib/exchange/cause.cc": CAUSES})

    def test_shows_what_differs(self):
        code, lines = self.run_on(
            {"README.md": README.replace("502", "504"), "lib/exchange/cause.cc": CAUSES})
        self.assertEqual(code, 1)
        self.assertTrue(any(line.startswith("+| `truncated` | 502 |") for line in lines), lines)

    def test_misses_no_row(self):
        more = CAUSES + 'CauseInfo{kDrained, "drained", 503, "a", "b", kInfo, RetryClass::kNo, "c"},'
        code, lines = self.run_on({"README.md": README, "lib/exchange/cause.cc": more})
        self.assertEqual(code, 1)
        self.assertTrue(any(line.startswith("+| `drained` |") for line in lines), lines)

    def test_refuses_rows_it_can_not_read(self):
        self.assert_names(
            {"README.md": README, "lib/exchange/cause.cc": CAUSES + "CauseInfo{kNew, kLabel},"},
            "lib/exchange/cause.cc has rows")

    def test_refuses_a_readme_without_the_table(self):
        self.assert_names({"README.md": "# A title\n", "lib/exchange/cause.cc": CAUSES},
                          "README.md:1: has no table of causes")


if __name__ == "__main__":
    unittest.main()
