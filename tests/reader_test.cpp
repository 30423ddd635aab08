// Reading a tick back: the parts, how far they go, and where a text leaves the contract.

#include <fmt/format.h>

#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "catch.hpp"
#include "outputs.hpp"

using tick_grammar::read_tick;
using tick_grammar::tick;
using tick_grammar::tick_status;

namespace {

struct parts {
  std::string text;
  std::string thought;
  const char* reply;  // null when there is none
  std::string name;   // empty when there is no call
  std::string args;
};

// Everything found, in one line, so that a failure shows all of it.
std::string shown(const tick& t) {
  return fmt::format(
      "{} thought '{}' reply {} call {}", static_cast<int>(t.status), t.thought,
      t.reply ? fmt::format("'{}'{}", *t.reply, t.reply_closed ? "" : "...") : "none",
      t.call ? fmt::format("{} {}", t.call->name, t.call->args) : "none");
}

std::string call(const std::string& args) { return "<tool>bash</tool> <args>" + args + "</args>"; }

// What every reading promises, whatever the text.
void check_promises(const std::string& text) {
  const tick t = read_tick(text);
  const auto inside = [&text](std::string_view view) {
    return view.data() >= text.data() && view.data() + view.size() <= text.data() + text.size();
  };
  CHECK(inside(t.thought));
  CHECK((!t.reply || inside(*t.reply)));
  CHECK((!t.call || (inside(t.call->name) && inside(t.call->args))));
  CHECK(t.consumed <= text.size());
  CHECK((t.status == tick_status::malformed) == (t.consumed < text.size()));
  CHECK((t.reply || !t.reply_closed));
}

// The reply only grows and the call appears once, whole, while a legal output streams in.
void check_streaming(const std::string& text) {
  const tick whole = read_tick(text);
  std::string_view reply;
  bool called = false;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string so_far = text.substr(0, size);
    const tick t = read_tick(so_far);
    INFO(so_far);
    CHECK(t.status != tick_status::malformed);
    // Whatever lies behind a view is not looked at.
    CHECK(shown(read_tick(std::string_view(text).substr(0, size))) == shown(t));
    if (t.reply) {
      CHECK(t.reply->substr(0, reply.size()) == reply);
      CHECK(whole.reply.value_or("").substr(0, t.reply->size()) == *t.reply);
      reply = whole.reply->substr(0, t.reply->size());
    } else {
      CHECK(reply.empty());
    }
    CHECK((t.call.has_value() || !called));
    if (t.call) {
      called = true;
      CHECK(t.call->name == whole.call->name);
      CHECK(t.call->args == whole.call->args);
    }
  }
}

}  // namespace

TEST_CASE("the parts of complete outputs") {
  for (const parts& p : std::vector<parts>{
           {"hello", "hello", nullptr, "", ""},
           {"hello  \t", "hello", nullptr, "", ""},
           {" hello\n\n", " hello", nullptr, "", ""},
           {"  <reply>x</reply>", "", "x", "", ""},
           {"<reply>hi</reply>", "", "hi", "", ""},
           {"<reply></reply>", "", "", "", ""},
           {"hm <reply> a\nb </reply> \n", "hm", " a\nb ", "", ""},
           {call("{}"), "", nullptr, "bash", "{}"},
           {"hm\n" + call(" {} ") + "\n", "hm", nullptr, "bash", "{}"},
           {"hm <reply>a</reply>\n" + call("{\"b\": [1, {}]}"), "hm", "a", "bash",
            "{\"b\": [1, {}]}"},
           {"<reply>use the <tool> tag </reply>" + call("{}"), "", "use the <tool> tag ", "bash",
            "{}"},
           {"<reply><args>{</reply>" + call("{}"), "", "<args>{", "bash", "{}"},
           {"<reply>a << b <</reply>", "", "a << b <", "", ""},
           {"<reply>\x01</reply>", "", "\x01", "", ""},
           {"<reply><reply></reply>", "", "<reply>", "", ""},
           {call(R"({"cmd":"echo </args>"})"), "", nullptr, "bash", R"({"cmd":"echo </args>"})"},
           {call(R"({"</tool>":1})"), "", nullptr, "bash", R"({"</tool>":1})"},
           {call(R"({"a":"}"})"), "", nullptr, "bash", R"({"a":"}"})"},
           {call("{\t\"a\"\t:\t1}"), "", nullptr, "bash", "{\t\"a\"\t:\t1}"},
           {call(R"({"a":"\"}</args>"})"), "", nullptr, "bash", R"({"a":"\"}</args>"})"},
           {call(R"({"a":"\\"})"), "", nullptr, "bash", R"({"a":"\\"})"},
           {call(R"({"a":"\\\"}"})"), "", nullptr, "bash", R"({"a":"\\\"}"})"},
           {call(R"({"\\":{"[":"]"}})"), "", nullptr, "bash", R"({"\\":{"[":"]"}})"},
           {call(R"({"a":["}",{"b":"]"}]})"), "", nullptr, "bash", R"({"a":["}",{"b":"]"}]})"},
           {call(R"({"html":"<reply>x</reply>"})"), "", nullptr, "bash",
            R"({"html":"<reply>x</reply>"})"},
           {call(R"({"a":"<tool>b</tool> <args>{}</args>"})"), "", nullptr, "bash",
            R"({"a":"<tool>b</tool> <args>{}</args>"})"},
           {"<tool>Read.My-File_2</tool><args>{}</args>", "", nullptr, "Read.My-File_2", "{}"},
           {"<tool>-.a</tool><args>{}</args>", "", nullptr, "-.a", "{}"},
           {"<tool>" + std::string(4096, 'x') + "</tool><args>{}</args>", "", nullptr,
            std::string(4096, 'x'), "{}"},
       }) {
    const tick t = read_tick(p.text);
    INFO(p.text << "\n" << shown(t));
    CHECK(t.status == tick_status::complete);
    CHECK(t.consumed == p.text.size());
    CHECK(t.thought == p.thought);
    CHECK(t.reply.has_value() == (p.reply != nullptr));
    CHECK(t.reply.value_or("") == (p.reply != nullptr ? p.reply : ""));
    CHECK(t.reply_closed == t.reply.has_value());
    CHECK(t.call.has_value() == !p.name.empty());
    if (t.call) {
      CHECK(t.call->name == p.name);
      CHECK(t.call->args == p.args);
    }
    check_promises(p.text);
    check_streaming(p.text);
  }
}

TEST_CASE("outputs that are cut are read as far as they go") {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "1 thought '' reply none call none"},
           {"hm <", "1 thought 'hm' reply none call none"},
           {"hm <repl", "1 thought 'hm' reply none call none"},
           {"<reply>", "1 thought '' reply ''... call none"},
           {"<reply>half a sen", "1 thought '' reply 'half a sen'... call none"},
           {"<reply>half <", "1 thought '' reply 'half '... call none"},
           {"<reply>half </", "1 thought '' reply 'half '... call none"},
           {"<reply>half </repl", "1 thought '' reply 'half '... call none"},
           {"<reply>half <b", "1 thought '' reply 'half <b'... call none"},
           {"<reply>half <<", "1 thought '' reply 'half <'... call none"},
           {"<reply>a</reply> <", "1 thought '' reply 'a' call none"},
           {"<reply>a</reply> <tool>ba", "1 thought '' reply 'a' call none"},
           {"<tool>bash", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>{\"cmd\":\"ls", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>{\"cmd\":\"ls\\", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>{\"cmd\":\"ls\"}", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>{}</args", "1 thought '' reply none call none"},
           {"<tool>bash</tool> <args>{\"a\":[", "1 thought '' reply none call none"},
           {"<tool>_", "1 thought '' reply none call none"},
       }) {
    INFO(text);
    CHECK(shown(read_tick(text)) == expected);
    CHECK(read_tick(text).consumed == text.size());
    check_promises(text);
  }
}

TEST_CASE("a text that leaves the contract is reported with the byte where it does") {
  // The texts are split at the first byte that is off.
  for (const auto& [on, off] : std::vector<std::pair<std::string, std::string>>{
           {"", "\nhello"},
           {"", "\r"},
           {"a\n", "b"},
           {"a", "\r\n"},
           {"a ", "\rb"},
           {"a <", "b"},
           {"<t", "hink>hm</think>"},
           {"<r", "EPLY>"},
           {"<reply>a</", "div>"},
           {"<reply>a</reply>", "b"},
           {"<reply>a</reply><", "reply>b</reply>"},
           {"<tool>", "</tool>"},
           {"<tool>_", "</tool>"},
           {"<tool>", " bash</tool>"},
           {"<tool>bash", " </tool>"},
           {"<tool>b", "\xc3\xa9</tool>"},
           {"<tool>bash</tool> ", "{}"},
           {"<tool>bash</tool> <args>", "[]"},
           {"<tool>bash</tool> <args>", "null"},
           {"<tool>bash</tool> <args>{", "'a':1}"},
           {"<tool>bash</tool> <args>{", "\r\n}"},
           {"<tool>bash</tool> <args>{\"a\":\"b", "\x1f\"}"},
           {"<tool>bash</tool> <args>{\"a\":1", "</args>"},  // the brace was forgotten
           {"<tool>bash</tool> <args>{\"a\":1", "]"},
           {"<tool>bash</tool> <args>{\"a\":\"b", "\nc\"}"},
           {"<tool>bash</tool> <args>{\"a\":\"b\\", "\nc\"}"},
           {"<tool>bash</tool> <args>{}", "}"},
           {"<tool>bash</tool> <args>{}</args", " >"},
           {call("{}"), "<tool>"},
           {call("{}"), "and so on"},
           {"a" + std::string(36, '\n'), "\n"},
           {"a" + std::string(25, '\n'), "<tool>"},
           {"a" + std::string(13, '\n') + "<", "reply>"},
           {"<reply>a</reply>" + std::string(24, ' '), " "},
           {"<reply>a</reply>" + std::string(13, ' '), "<tool>"},
           {call("{}") + std::string(12, '\t'), "\t"},
       }) {
    const std::string text = on + off;
    INFO(text);
    CHECK(read_tick(text).status == tick_status::malformed);
    CHECK(read_tick(text).consumed == on.size());
    CHECK(read_tick(on).status != tick_status::malformed);
    check_promises(text);
  }
}

TEST_CASE("what came before the text left the contract is still given") {
  const tick t = read_tick("hm <reply>a</reply> and more");
  CHECK(shown(t) == "2 thought 'hm' reply 'a' call none");
}

TEST_CASE("every sample output is read as its table says") {
  for (const outputs::sample& sample : outputs::all()) {
    INFO(sample.why << ": " << sample.text << "\n" << shown(read_tick(sample.text)));
    CHECK(read_tick(sample.text).status == sample.read());
    check_promises(sample.text);
    if (sample.read() == tick_status::complete) {
      check_streaming(sample.text);
    }
  }
}

TEST_CASE("any byte may come") {
  for (int value = 0; value < 256; ++value) {
    const std::string byte(1, static_cast<char>(value));
    for (const std::string_view before :
         {"", "a", "a\n", "<", "<reply>", "<reply><", "<reply></", "<tool>", "<tool>a",
          "<tool>a</tool>", "<tool>a</tool><args>", "<tool>a</tool><args>{",
          "<tool>a</tool><args>{\"", "<tool>a</tool><args>{\"\\", "<tool>a</tool><args>{}",
          "<tool>a</tool><args>{}</args>"}) {
      INFO(before << " and byte " << value);
      check_promises(std::string(before) + byte);
      check_promises(std::string(before) + byte + byte);
    }
  }
  const std::string zeros("\0\0", 2);
  CHECK(read_tick(zeros).thought == zeros);
}

TEST_CASE("nesting of 100,000 is read, and costs no stack") {
  constexpr std::size_t depth = 100'000;
  const std::string args = "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  CHECK(read_tick(call(args)).call->args == args);
  const std::string open = "<tool>bash</tool><args>" + std::string(depth, '{');
  CHECK(read_tick(open).status == tick_status::partial);
}
