import unittest

from planted_tree import PlantedTreeTest


class CheckIncludesTest(PlantedTreeTest):
    script = "check_includes"

    def test_passes_what_points_down_the_order(self):
        self.assert_passes({
            "lib/relay/proxy.h": '#include "lib/base/clock.h"\n#include "lib/upstream/table.h"\n'
                                 '#include "lib/dialect/dialect.h"\n#include "absl/status/status.h"\n',
            "lib/dialect/dialect.h": '#include "lib/sse/splitter.h"\n',
            "server/gateway.cc": '#include "lib/http/server.h"\n#include "lib/relay/proxy.h"\n',
        })

    def test_names_what_points_up_the_order(self):
        self.assert_names(
            {"lib/base/clock.h": '#pragma once\n#include "lib/exchange/cause.h"\n'},
            "lib/base/clock.h:2: includes lib/exchange/cause.h:")
        self.assert_names(
            {"lib/upstream/table.cc": '#include "lib/relay/seams.h"\n'},
            "lib/upstream/table.cc:1: includes lib/relay/seams.h:")
        self.assert_names(
            {"lib/relay/proxy.cc": '#include "server/gateway.h"\n'},
            "lib/relay/proxy.cc:1: includes server/gateway.h:")

    def test_keeps_siblings_apart(self):
        self.assert_names(
            {"lib/sse/splitter.h": '#include "lib/dialect/dialect.h"\n'},
            "lib/sse/splitter.h:1: includes lib/dialect/dialect.h:")
        self.assert_names(
            {"lib/config/store.h": '#include "lib/events/hub.h"\n'},
            "lib/config/store.h:1: includes lib/events/hub.h:")

    def test_keeps_http_and_relay_apart(self):
        self.assert_names(
            {"lib/http/server.h": '#include "lib/relay/seams.h"\n',
             "lib/relay/proxy.h": '#include "lib/http/server.h"\n'},
            "lib/http/server.h:1: includes lib/relay/seams.h:",
            "lib/relay/proxy.h:1: includes lib/http/server.h:")

    def test_gives_the_runtime_base_only(self):
        self.assert_names(
            {"lib/runtime/loop.h": '#include "lib/exchange/cause.h"\n'},
            "lib/runtime/loop.h:1: includes lib/exchange/cause.h:")

    def test_gives_the_admin_tool_base_and_proto_only(self):
        self.assert_passes({
            "admin/main.cc": '#include "sluice/control/v1/event.pb.h"\n#include "lib/base/ids.h"\n'})
        self.assert_names(
            {"admin/main.cc": '#include "lib/exchange/cause.h"\n'},
            "admin/main.cc:1: includes lib/exchange/cause.h:")

    def test_keeps_tests_of_the_library_from_the_programs(self):
        self.assert_names(
            {"tests/relay/proxy_test.cc": '#include "server/gateway.h"\n'},
            "tests/relay/proxy_test.cc:1: includes server/gateway.h:")
        self.assert_passes({"tests/integration/a_test.cc": '#include "server/gateway.h"\n'})

    def test_keeps_each_library_in_its_place(self):
        for header, good, bad in [
            ("httplib.h", "lib/http/server.cc", "lib/http/server.h"),
            ("boost/beast/http.hpp", "lib/http/parser.cc", "lib/http/parser.h"),
            ("boost/context/fiber.hpp", "lib/runtime/fiber.h", "lib/http/server.cc"),
            ("rapidjson/reader.h", "lib/dialect/peek.cc", "lib/config/load.cc"),
            ("rapidjson/document.h", "tests/sse/a_test.cc", "server/main.cc"),
            ("sluice/control/v1/event.pb.h", "server/convert.h", "lib/events/hub.h"),
            ("sluice/control/v1/event.grpc.pb.h", "tests/admin/a_test.cc", "tests/events/a_test.cc"),
            ("grpcpp/grpcpp.h", "admin/main.cc", "lib/relay/proxy.cc"),
            ("google/protobuf/util/json_util.h", "server/load.cc", "lib/config/load.cc"),
            ("sys/socket.h", "lib/runtime/socket.cc", "lib/relay/proxy.cc"),
            ("sys/epoll.h", "lib/runtime/loop.cc", "lib/events/hub.cc"),
            ("poll.h", "tests/support/engine.cc", "tests/relay/a_test.cc"),
        ]:
            with self.subTest(header=header):
                self.assert_passes({good: f"#include <{header}>\n"})
                for spelled in (f"<{header}>", f'"{header}"'):
                    self.assert_names({bad: f"#include {spelled}\n"},
                                      f"{bad}:1: includes {header}:")

    def test_wants_paths_from_the_root(self):
        self.assert_names({"lib/base/ids.cc": '#include "ids.h"\n'},
                          "lib/base/ids.cc:1: includes ids.h: name it by its path")

    def test_wants_a_row_for_each_module(self):
        self.assert_names({"lib/attic/old.h": "\n"}, "lib/attic/old.h:1: lib/attic has no row")

    def test_reads_no_comments(self):
        self.assert_passes({"lib/base/ids.h": '// #include "server/a.h"\n/*\n#include "admin/a.h"\n*/\n'})

    def test_counts_lines_behind_comments_and_literals(self):
        self.assert_names(
            {"lib/base/ids.cc": 'auto a = "/*";\n/* two\n lines */ auto b = R"(")";\n'
                                '  #  include "server/a.h"\n'},
            "lib/base/ids.cc:4: includes server/a.h:")


if __name__ == "__main__":
    unittest.main()
