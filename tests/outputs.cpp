#include "outputs.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace outputs {
namespace {

std::string call(const std::string& args) { return "<tool>bash</tool> <args>" + args + "</args>"; }

std::string reply(const std::string& text) { return "<reply>" + text + "</reply>"; }

std::string newlines(std::size_t count) { return std::string(count, '\n'); }

std::string blanks(std::size_t count) {
  std::string text;
  while (text.size() < count) {
    text += "\n \t"[text.size() % 3];
  }
  return text;
}

std::string utf8(unsigned code_point) {
  std::string text;
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0U | code_point >> 6U);
    text += static_cast<char>(0x80U | (code_point & 0x3FU));
  } else {
    text += static_cast<char>(0xE0U | code_point >> 12U);
    text += static_cast<char>(0x80U | (code_point >> 6U & 0x3FU));
    text += static_cast<char>(0x80U | (code_point & 0x3FU));
  }
  return text;
}

void add_parts(std::vector<sample>& all) {
  all.insert(
      all.end(),
      {
          {"", "oooop", "an output holds at least one part"},
          {"hello", "aoaoc", "a thought alone"},
          {reply("hi"), "aaaac", "a reply alone"},
          {call("{}"), "ararc", "a call alone"},
          {"hm " + reply("hi"), "aaaac", "thought and reply"},
          {"hm " + call("{}"), "ararc", "thought and call"},
          {reply("hi") + " " + call("{}"), "aaaac", "reply and call"},
          {"hm\n" + reply("hi") + "\n" + call("{}") + "\n", "aaaac", "all three, a line each"},
          {"hm" + reply("hi") + call("{}"), "aaaac", "no gap is needed"},
          {call("{}") + reply("hi"), "rrrrm", "a reply never follows a call"},
          {call("{}") + call("{}"), "rrrrm", "one call a tick"},
          {reply("a") + reply("b"), "rrrrm", "one reply a tick"},
          {reply("a") + "b", "rrrrm", "no text after the reply"},
          {call("{}") + "b", "rrrrm", "no text after the call"},
          {"x", "aoaoc", "a thought of one character"},
          {"a\nb", "rrrrm", "a second line of prose"},
          {"a\nbash {\"cmd\":\"x\"}", "rrrrm", "a line that imitates a call"},
          {"a\r\nb", "rrrrm", "a carriage return ends a thought too"},
          {"\n", "rrrrm", "an output never begins with a line break"},
          {"\nhello", "rrrrm", "nor does a thought"},
          {"\thello", "aoaoc", "a tab may"},
          {"a > b & c \"d\" 'e' {f}", "aoaoc", "a thought holds everything printable but <"},
          {"a < b", "rrrrm", "which would open a tag"},
          {"<think>hm</think>hello", "rrrrm", "a thinking block is not on the contract"},
          {"<Reply>hi</Reply>", "rrrrm", "tags are exact"},
          {"< reply>hi</reply>", "rrrrm", "tags are exact"},
          {"<reply >hi</reply>", "rrrrm", "tags are exact"},
          {"gr\xc3\xbc\xc3\x9f dich \xe2\x9c\x93 \xf0\x9f\x98\x80", "aoaoc",
           "text of two, three and four bytes a character"},
          {"<reply>half a sen", "oooop", "a reply that is cut"},
          {"<reply>half a sen<", "oooop", "in the middle of its closing tag"},
          {"<reply>half a sen</rep", "oooop", "in the middle of its closing tag"},
          {"hm <", "oooop", "a tag that is cut"},
          {"hm <re", "oooop", "a tag that is cut"},
          {"hm <tool>ba", "ororp", "a name that is cut"},
          {"<tool>bash</tool> <args>{\"cmd\":\"ls", "ororp", "a string that is cut"},
          {"<tool>bash</tool> <args>{}", "ororp", "a call without its closing tag"},
      });
}

void add_replies(std::vector<sample>& all) {
  all.insert(all.end(),
             {
                 {reply("line 1\n\nline 2\r\n\tline 3"), "aaaac", "a reply may run over lines"},
                 {reply("x"), "aaaac", "S3: one character is a reply"},
                 {reply("a <b> c"), "aaaac", "a reply may hold <x"},
                 {reply("use the <tool> tag "), "aaaac", "a tag quoted in a reply is text"},
                 {reply("use the <tool> tag ") + call("{}"), "aaaac", "and does not begin a call"},
                 {reply("see <reply> and <args>{\"a\":1}"), "aaaac", "quoted tags, again"},
                 {reply("use </div>"), "rrrrm", "no edition lets a reply hold </"},
                 {reply("</tool>"), "rrrrm", "not even in a tag of ours"},
                 {reply(""), "aarrc", "S3: an empty reply"},
                 {reply(" "), "aarrc", "S3: a blank reply"},
                 {reply("\n\t \r\n"), "aarrc", "S3: a reply of blanks alone"},
                 {reply(" x "), "aaaac", "S3: blanks around a character"},
                 {reply(newlines(50) + "x"), "aaaac", "S3: any number of them"},
                 {reply("cout << x"), "rraac", "S4: two < in a row"},
                 {reply("cat <<EOF"), "rraac", "S4: a here document"},
                 {reply("<<<"), "rraac", "S4: nothing but <"},
                 {reply("1 <"), "rraac", "S4: a < right before the closing tag"},
                 {reply("a <</b"), "rrrrm", "S4: </ closes, whatever stands before it"},
                 {reply("a << b") + call("{}"), "rraac", "S4: and a call after it"},
                 {reply("<"), "rraac", "S4: a < is not blank"},
                 {"<reply><", "oooop", "S4: open either way"},
                 {"<reply><<", "rroop", "S4: open in strict alone"},
             });
  for (unsigned c = 1; c < 0x20; ++c) {
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    all.push_back({reply("a" + utf8(c) + "b"), blank ? "aaaac" : "aarrc",
                   fmt::format("S5: control character {:#x} in a reply", c)});
  }
  all.push_back({reply("\x7f"
                       "a"),
                 "aarrc", "S5: DEL begins a reply"});
  all.push_back({reply("<\x1f"), "aarrc", "S5: a control character behind <"});
  all.push_back({reply("a\x7f"
                       "b"),
                 "aarrc", "S5: DEL in a reply"});
  for (const unsigned c : {0x80U, 0x85U, 0xA0U, 0x2028U, 0x2029U, 0xFFFDU}) {
    all.push_back(
        {reply("a" + utf8(c) + "b"), "aaaac", fmt::format("S5: U+{:04X} is text in a reply", c)});
  }
}

void add_thoughts(std::vector<sample>& all) {
  all.insert(all.end(),
             {
                 {" ", "aoooc", "S1: a single blank is a whole output"},
                 {"\t \t", "aoooc", "S1: blanks alone"},
                 {std::string(12, ' '), "aoooc", "S1: as many blanks as may come first"},
                 {std::string(13, ' '), "aorrc", "S1: and one more"},
                 {std::string(12, ' ') + "a", "aoaoc", "S1: before a thought"},
                 {std::string(12, ' ') + reply("a"), "aaaac", "S1: before a reply"},
                 {std::string(12, '\t') + call("{}"), "ararc", "S1: before a call"},
                 {std::string(13, ' ') + reply("a"), "aarrc", "S1: one too many before a reply"},
                 {" \n" + reply("a"), "aarrc", "S1: a line of blanks is no thought"},
                 {"a" + std::string(500, ' '), "aoaoc", "blanks inside a thought are not counted"},
                 {"a" + std::string(500, ' ') + reply("b"), "aaaac", "nor at its end"},
             });
  for (unsigned c = 1; c < 0x20; ++c) {
    if (c != '\t' && c != '\n' && c != '\r') {
      all.push_back({"a" + utf8(c) + "b", "aorrc",
                     fmt::format("S2: control character {:#x} in a thought", c)});
    }
  }
  for (const unsigned c : {0x7FU, 0x85U, 0x2028U, 0x2029U}) {
    all.push_back({"a" + utf8(c) + "b", "aorrc", fmt::format("S2: U+{:04X} in a thought", c)});
    all.push_back({utf8(c) + "b", "aorrc", fmt::format("S2: U+{:04X} begins a thought", c)});
  }
  for (const unsigned c : {0x7EU, 0x80U, 0x84U, 0x86U, 0xA0U, 0x2027U, 0x202AU, 0xFFFDU}) {
    all.push_back({"a" + utf8(c) + "b", "aoaoc", fmt::format("S2: U+{:04X} is text", c)});
    all.push_back({utf8(c), "aoaoc", fmt::format("S2: U+{:04X} is a thought", c)});
  }
  all.push_back(
      {"a" + utf8(0x2028) + "bash {\"cmd\":\"x\"}", "aorrc", "S2: a second line to many readers"});
}

void add_gaps(std::vector<sample>& all) {
  const auto add = [&all](const std::string& text, std::string_view expected, const char* why) {
    all.push_back({text, expected, why});
  };
  for (const auto& run : {newlines, blanks}) {
    add("a" + run(36),
        "arar"
        "c",
        "three gaps of 12 after a thought alone");
    add("a" + run(37), "rrrrm", "and one blank more");
    add("a" + run(12) + reply("b"), "aaaac", "one gap before a reply");
    add("a" + run(13) + reply("b"), "rrrrm", "and one blank more");
    add("a" + run(24) + call("{}"), "ararc", "two gaps before a call, without a reply");
    add("a" + run(25) + call("{}"), "rrrrm", "and one blank more");
    add(reply("a") + run(24), "aaaac", "two gaps after a reply");
    add(reply("a") + run(25), "rrrrm", "and one blank more");
    add(reply("a") + run(12) + call("{}"), "aaaac", "one gap between reply and call");
    add(reply("a") + run(13) + call("{}"), "rrrrm", "and one blank more");
    add(call("{}") + run(12), "ararc", "one gap after a call");
    add(call("{}") + run(13), "rrrrm", "and one blank more");
    add("<tool>bash</tool>" + run(12) + "<args>{}</args>", "ararc", "one gap inside a call");
    add("<tool>bash</tool>" + run(13) + "<args>{}</args>", "rrrrm", "and one blank more");
    add(call(run(12) + "{}"), "ararc", "one gap before the object");
    add(call(run(13) + "{}"), "rrrrm", "and one blank more");
    add(call("{}" + run(12)), "ararc", "one gap after the object");
    add(call("{}" + run(13)), "rrrrm", "and one blank more");
  }
  add("a\n\r" + reply("b"), "rrrrm", "a carriage return is no blank of a gap");
  add("a\n\v" + reply("b"), "rrrrm", "nor is a vertical tab");
}

void add_names(std::vector<sample>& all) {
  all.insert(
      all.end(),
      {
          {"<tool>bash_bg</tool><args>{}</args>", "ararc", "a name that begins with another"},
          {"<tool>read_file</tool><args>{}</args>", "ararc", "a name that begins with no other"},
          {"<tool>bas</tool><args>{}</args>", "rrrrc", "half a name is unknown"},
          {"<tool>bash_</tool><args>{}</args>", "rrrrc", "so is one and a half"},
          {"<tool>Bash</tool><args>{}</args>", "rrrrc", "case matters"},
          {"<tool>unknown</tool><args>{}</args>", "rrrrc", "an unknown tool cannot be sampled"},
          {"<tool> bash</tool><args>{}</args>", "rrrrm", "no blanks around a name"},
          {"<tool>bash </tool><args>{}</args>", "rrrrm", "no blanks around a name"},
          {"<tool></tool><args>{}</args>", "rrrrm", "a name is not empty"},
          {"<tool>_</tool><args>{}</args>", "rrrrM",
           "no rule takes a name without letter or digit"},
          {"<tool>bash</Tool><args>{}</args>", "rrrrm", "tags are exact"},
          {"<tool>bash</tool>args>{}</args>", "rrrrm", "the arguments have a tag"},
          {"<tool>bash</tool>", "ororp", "and are not optional"},
      });
}

void add_json(std::vector<sample>& all) {
  const auto taken = [&all](const std::string& args, const char* why) {
    all.push_back({call(args), "ararc", why});
  };
  const auto refused = [&all](const std::string& args, std::string_view expected, const char* why) {
    all.push_back({call(args), expected, why});
  };
  taken(R"({"a":1,"b":[true,false,null],"c":{"d":{}},"e":"f"})", "every kind of value");
  taken("{ \"a\" : 1 , \"b\" : [ 1 , 2 ] }", "blanks wherever JSON has them");
  taken(R"({"a":[[[[[[[[]]]]]]]]})", "nesting");
  taken(R"({"cmd":"echo </args>"})", "a closing tag inside a string");
  taken(R"({"</tool>":1})", "a closing tag inside a key");
  taken(R"({"a":"}"})", "a brace inside a string");
  taken(R"({"a":"\"}</args>\\"})", "escaped quotes and backslashes");
  taken(R"({"a":"\\"})", "a string that ends in a backslash");
  taken(R"({"\b\f\n\r\t\/\\\"":1})", "every escape");
  taken("{\"a\":\"\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\"}", "raw text beyond ASCII in a string");
  taken(R"({"a":"\u0041\uFFFF\uabcd"})", "escapes by code unit");
  refused("[]", "rrrrm", "the arguments are an object");
  refused("\"a\"", "rrrrm", "not a string");
  refused("", "rrrrm", "not nothing");
  refused("{\"a\"}", "rrrrc", "a key has a value");
  refused("{\"a\":}", "rrrrc", "a key has a value");
  refused("{\"a\":1,}", "rrrrc", "no comma at the end");
  refused("{a:1}", "rrrrc", "keys are strings");
  refused("{'a':1}", "rrrrm", "in double quotes");
  refused("{\"a\":[1}", "rrrrM", "brackets close what they open");
  refused("{\"a\":(1)}", "rrrrm", "no byte that JSON does not know");
  refused("{\"a\":1]", "rrrrm", "a brace is closed by a brace");
  refused("{\"a\":TRUE}", "rrrrm", "literals are in lower case");
  refused("{}}", "rrrrm", "one object");
  refused("{\"a\":\"\\x41\"}", "rrrrc", "an escape that JSON does not know");
  refused("{\"a\":\"\\u12g4\"}", "rrrrc", "an escape that is not hexadecimal");
  refused(R"({"a":"\u004"})", "rrrrc", "\\u has four digits");
  for (const char* raw : {"\n", "\t", "\x1b", "\x01", "\x7f", "\r"}) {
    refused(fmt::format("{{\"a\":\"b{}c\"}}", raw), "rrrrm", "a raw control character in a string");
  }

  const auto number = [&all](const std::string& digits, std::string_view expected,
                             const char* why) {
    all.push_back({call("{\"n\":" + digits + "}"), expected, why});
    all.push_back({call("{\"n\":[-" + digits + "]}"), expected, why});
  };
  number("0", "ararc", "zero");
  number("0.0", "ararc", "zero");
  number("0e0", "ararc", "zero");
  number("10", "ararc", "zeros may follow");
  number("1.5E+07", "ararc", "all parts of a number");
  number("02", "rrrrc", "but not come first");
  number("1.", "rrrrc", "a point wants a digit");
  number("+1", "rrrrc", "no plus");
  number("1e", "rrrrc", "an exponent wants a digit");
  number("1ee1", "rrrrc", "one exponent");
  number(std::string(16, '9'), "ararc", "S7: 16 digits before the point");
  number(std::string(17, '9'), "arrrc", "S7: and one more");
  number("0." + std::string(16, '9'), "ararc", "S7: 16 digits after the point");
  number("0." + std::string(17, '9'), "arrrc", "S7: and one more");
  number("1e999", "ararc", "S7: three digits in the exponent");
  number("1e1000", "arrrc", "S7: and one more");
  number("1e-001", "ararc", "S7: with a sign");
  number("1e-0001", "arrrc", "S7: and one more");
  number(std::string(400, '1'), "arrrc", "S7: endless digits");

  const auto escape = [&all](const std::string& escapes, std::string_view expected,
                             const char* why) {
    all.push_back({call("{\"a\":\"" + escapes + "\"}"), expected, why});
    all.push_back({call("{\"" + escapes + "\":1}"), expected, why});
  };
  escape(R"(\ud7ff)", "ararc", "S6: the last unit before the surrogates");
  escape(R"(\ue000)", "ararc", "S6: the first unit after them");
  escape(R"(\ud83d\ude00)", "ararc", "S6: a pair");
  escape(R"(\uD800\uDC00)", "ararc", "S6: the first pair");
  escape(R"(\uDBFF\uDFFF)", "ararc", "S6: the last pair");
  escape(R"(x\ud83d\ude00\ud83d\ude00y)", "ararc", "S6: pairs in a row");
  escape(R"(\ud83d)", "arrrc", "S6: a high surrogate alone");
  escape(R"(\ude00)", "arrrc", "S6: a low surrogate alone");
  escape(R"(\uDFFF)", "arrrc", "S6: the last low one alone, in capitals");
  escape(R"(\ude00\ud83d)", "arrrc", "S6: low before high");
  escape(R"(\ud83d\ud83d)", "arrrc", "S6: high before high");
  escape(R"(\ud83d\u0041)", "arrrc", "S6: high before a letter");
  escape(R"(\ud83d\n)", "arrrc", "S6: high before another escape");
  escape(R"(\ud83d\ue000)", "arrrc", "S6: high before the first unit after the surrogates");
  escape(R"(\ud83d\udbff)", "arrrc", "S6: high before the last high one");
  escape(R"(\ud83dx)", "arrrc", "S6: high before text");
}

verdict verdict_of(char letter) {
  switch (letter) {
    case 'a':
      return verdict::accepted;
    case 'o':
      return verdict::open;
    case 'r':
      return verdict::refused;
    default:
      throw std::logic_error("no verdict");
  }
}

}  // namespace

verdict sample::by(const tick_grammar::options& opts) const {
  const std::size_t of_edition = opts.edition == tick_grammar::edition::strict ? 2 : 0;
  return verdict_of(expected.at(of_edition + (opts.require_reply ? 1 : 0)));
}

tick_grammar::tick_status sample::read() const {
  switch (expected.at(4)) {
    case 'c':
      return tick_grammar::tick_status::complete;
    case 'p':
      return tick_grammar::tick_status::partial;
    case 'm':
    case 'M':
      return tick_grammar::tick_status::malformed;
    default:
      throw std::logic_error("no status");
  }
}

const std::vector<sample>& all() {
  static const std::vector<sample> samples = [] {
    std::vector<sample> made;
    add_parts(made);
    add_thoughts(made);
    add_replies(made);
    add_gaps(made);
    add_names(made);
    add_json(made);
    return made;
  }();
  return samples;
}

}  // namespace outputs
