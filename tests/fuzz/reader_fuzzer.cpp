// Any bytes as an output: read_tick keeps its promises, agrees with a second reader, and says of a
// beginning what it says while the rest streams in.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz.hpp"

using fuzz::check;
using tick_grammar::read_tick;
using tick_grammar::tick;
using tick_grammar::tick_status;

namespace {

bool contains(std::string_view bytes, char c) { return bytes.find(c) != std::string_view::npos; }

// The contract, a byte at a time and without looking ahead: what it has found in a beginning cannot
// depend on the rest.
class contract {
 public:
  explicit contract(std::string_view text) : text_(text) { found_.thought = text.substr(0, 0); }

  // Takes the next byte, if it may come here.
  bool step() {
    if (found_.status == tick_status::malformed) return false;
    if (!takes(text_[found_.consumed])) {
      found_.status = tick_status::malformed;
      return false;
    }
    const std::size_t at = ++found_.consumed;
    const bool settled = rest_.empty();
    if (place_ == place::reply && settled) found_.reply = text_.substr(start_, at - start_);
    if (place_ == place::bracket) found_.reply = text_.substr(start_, at - start_ - 1);
    if (place_ == place::after_reply) found_.reply_closed = settled;
    if (place_ == place::after_call && settled) found_.call = call_;
    const bool may_end = place_ == place::thought || place_ == place::after_thought ||
                         place_ == place::after_reply || place_ == place::after_call;
    found_.status = may_end && settled ? tick_status::complete : tick_status::partial;
    return true;
  }

  const tick& found() const { return found_; }

 private:
  enum class place {
    thought,
    after_thought,
    first_tag,  // behind its `<`
    reply,
    bracket,  // behind a `<` in a reply
    after_reply,
    name,
    after_name,
    before_object,
    object,
    string,
    escape,
    after_object,
    after_call,
  };

  // Goes to a place, which begins when `literal` has arrived too.
  bool enter(place next, std::string_view literal = "") {
    place_ = next;
    rest_ = literal;
    start_ = found_.consumed + 1 + literal.size();
    blanks_ = 0;
    return true;
  }

  bool stay(place next) {
    place_ = next;
    return true;
  }

  bool blank(char c, int most) { return contains(" \t\n", c) && ++blanks_ <= most; }

  bool takes(char c) {
    if (!rest_.empty()) {
      if (c != rest_.front()) return false;
      rest_.remove_prefix(1);
      return true;
    }
    const std::size_t at = found_.consumed;
    switch (place_) {
      case place::thought:
        if (c == '<') return stay(place::first_tag);
        if (c == '\n') return at > 0 && enter(place::after_thought) && blank(c, 1);
        if (!contains(" \t\r", c)) found_.thought = text_.substr(0, at + 1);
        return c != '\r';
      case place::after_thought:
        return c == '<' ? blanks_ <= 24 && stay(place::first_tag) : blank(c, 36);
      case place::first_tag:
        if (c == 'r') return blanks_ <= 12 && enter(place::reply, "eply>");
        return c == 't' && enter(place::name, "ool>");
      case place::reply:
        return stay(c == '<' ? place::bracket : place::reply);
      case place::bracket:
        if (c == '/') return enter(place::after_reply, "reply>");
        return stay(c == '<' ? place::bracket : place::reply);
      case place::after_reply:
        return c == '<' ? blanks_ <= 12 && enter(place::name, "tool>") : blank(c, 24);
      case place::name:
        return c == '<' ? ends_name() : is_alnum(c) || contains("_-.", c);
      case place::after_name:
        return c == '<' ? enter(place::before_object, "args>") : blank(c, 12);
      case place::before_object:
        depth_ = 1;
        return c == '{' ? enter(place::object) : blank(c, 12);
      case place::object:
        return in_object(c);
      case place::string:
        if (c == '"') return stay(place::object);
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F &&
               stay(c == '\\' ? place::escape : place::string);
      case place::escape:
        return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && stay(place::string);
      case place::after_object:
        return c == '<' ? enter(place::after_call, "/args>") : blank(c, 12);
      case place::after_call:
        return blank(c, 12);
    }
    return false;
  }

  static bool is_alnum(char c) {
    return contains("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", c);
  }

  bool ends_name() {
    call_.name = text_.substr(start_, found_.consumed - start_);
    return std::any_of(call_.name.begin(), call_.name.end(), is_alnum) &&
           enter(place::after_name, "/tool>");
  }

  bool in_object(char c) {
    if (c == '"') return stay(place::string);
    if (contains("{[", c)) ++depth_;
    if (contains("}]", c)) --depth_;
    if (depth_ > 0) return contains("{}[]:, \t\n0123456789+-.eEtruefalsenull", c);
    call_.args = text_.substr(start_ - 1, found_.consumed + 2 - start_);
    return c == '}' && enter(place::after_object);
  }

  std::string_view text_;
  place place_ = place::thought;
  std::string_view rest_;  // what the text must go on with before the place begins
  std::size_t start_ = 0;  // where it begins
  int blanks_ = 0;
  std::size_t depth_ = 0;
  tick_grammar::tool_call call_;
  tick found_;
};

// A view of a text, by where in the text it lies.
using extent = std::pair<std::ptrdiff_t, std::size_t>;
using extents = std::array<std::optional<extent>, 4>;

extents extents_of(const tick& t, std::string_view text) {
  const auto extent_of = [text](std::string_view view) {
    return extent(view.data() - text.data(), view.size());
  };
  extents all;
  all[0] = extent_of(t.thought);
  if (t.reply) all[1] = extent_of(*t.reply);
  if (t.call) all[2] = extent_of(t.call->name);
  if (t.call) all[3] = extent_of(t.call->args);
  return all;
}

bool same(const tick& a, std::string_view a_text, const tick& b, std::string_view b_text) {
  return a.status == b.status && a.consumed == b.consumed && a.reply_closed == b.reply_closed &&
         extents_of(a, a_text) == extents_of(b, b_text);
}

// What holds for every text.
void check_promises(const tick& t, std::string_view text) {
  check(t.consumed <= text.size(), "consumed is within bounds");
  check((t.status == tick_status::malformed) == (t.consumed < text.size()),
        "malformed says that some bytes are off the contract");
  check(t.reply || !t.reply_closed, "only a reply can be closed");
  for (const std::optional<extent>& view : extents_of(t, text)) {
    check(!view || (view->first >= 0 && static_cast<std::size_t>(view->first) <= t.consumed &&
                    view->second <= t.consumed - static_cast<std::size_t>(view->first)),
          "views lie inside what was consumed");
  }
}

// What holds for two beginnings of one text, the second the longer.
void check_growth(const tick& before, const tick& now) {
  check(before.consumed <= now.consumed, "consumed never shrinks");
  check(before.status != tick_status::malformed || now.status == tick_status::malformed,
        "what is malformed stays so");
  if (before.reply) {
    check(now.reply && now.reply->data() == before.reply->data() &&
              now.reply->size() >= before.reply->size(),
          "a reply only grows");
  }
  if (before.call) {
    check(now.call && now.call->name == before.call->name && now.call->args == before.call->args,
          "a call stays what it was");
  }
}

// The beginnings to read, by their sizes: all of a short text; of a long one those around `end` and
// sixteen that the text itself picks.
std::set<std::size_t> sizes_of(std::string_view text, std::size_t end) {
  std::set<std::size_t> sizes = {0, end, text.size()};
  if (end > 0) sizes.insert(end - 1);
  if (end < text.size()) sizes.insert(end + 1);
  const std::size_t stride = text.size() <= 64 ? 1 : text.size() / 16;
  for (std::size_t at = 0; at + stride <= text.size(); at += stride) {
    sizes.insert(at + static_cast<unsigned char>(text[at]) % stride);
  }
  return sizes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = read_tick(text).consumed;
  check(end <= size && read_tick(text.substr(0, end)).status != tick_status::malformed,
        "what was consumed is on the contract");

  contract model(text);
  tick before;
  for (const std::size_t length : sizes_of(text, end)) {
    while (model.found().consumed < length && model.step()) {
    }
    const std::string_view beginning = text.substr(0, length);
    const tick now = read_tick(beginning);
    check_promises(now, beginning);
    check_growth(before, now);
    check(same(now, text, model.found(), text), "both readers find the same");
    // A copy whose memory ends with it, where ASan sees a read too far.
    const std::vector<char> copy(beginning.begin(), beginning.end());
    const std::string_view alone(copy.data(), copy.size());
    check(same(read_tick(alone), alone, now, text), "what is found depends on the text alone");
    before = now;
  }
  return 0;
}
