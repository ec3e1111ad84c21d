import unittest

from planted_tree import PlantedTreeTest


class CheckSourcesTest(PlantedTreeTest):
    script = "check_sources"

    def test_measures_files(self):
        self.assert_passes({"lib/base/ids.cc": "\n" * 400})
        self.assert_names({"lib/base/ids.cc": "\n" * 401}, "lib/base/ids.cc:401: over 400 lines")
        self.assert_names({"scripts/check": "\n" * 401}, "scripts/check:401: over 400 lines")

    def test_lets_test_data_be_long(self):
        self.assert_passes({"tests/data/long.py": "\n" * 401})

    def test_refuses_names_that_say_nothing(self):
        for name in ("utils.h", "string_util.h", "test_helpers.cc", "common.h", "pool_manager.cc"):
            with self.subTest(name=name):
                self.assert_names({f"lib/base/{name}": "\n"}, f"lib/base/{name}:1: a name")
        self.assert_passes({"lib/base/utility_rate.h": "\n"})

    def test_refuses_what_the_house_does_not_use(self):
        for text in (
            "void F(std::string_view s);",
            "#include <string_view>",
            "absl::optional<int> a;",
            "absl::MutexLock lock(&m);",
            '#include "absl/synchronization/mutex.h"',
            "MOCK_METHOD(void, F, ());",
        ):
            with self.subTest(text=text):
                self.assert_names({"lib/sse/a.cc": f"\n{text}\n"}, "lib/sse/a.cc:2: ")

    def test_refuses_sleeps_in_the_library_and_its_tests(self):
        for text in ("std::this_thread::sleep_for(a);", "absl::SleepFor(a);", "usleep(1);"):
            for path in ("lib/http/a.cc", "tests/relay/a_test.cc", "server/main.cc"):
                with self.subTest(text=text, path=path):
                    self.assert_names({path: text}, f"{path}:1: ")
            self.assert_passes({"admin/watch.cc": text})

    def test_keeps_clocks_where_time_comes_from(self):
        for text in ("std::chrono::steady_clock::now();", "absl::Now();"):
            for path in ("lib/relay/a.cc", "server/gateway.cc", "lib/events/hub.cc"):
                with self.subTest(text=text, path=path):
                    self.assert_names({path: text}, f"{path}:1: ")
            for path in ("lib/base/clock.h", "lib/runtime/loop.cc", "server/main.cc"):
                self.assert_passes({path: text})

    def test_reads_no_comments(self):
        self.assert_passes({"lib/base/mutex.h": "/// `absl::Mutex` is not used.\n"})


if __name__ == "__main__":
    unittest.main()
