// tick_grammar: the GBNF grammar of one agent tick, rebuilt only when the tool registry changes.
// SPDX-License-Identifier: MIT
//
//     thought?  <reply>text</reply>?  <tool>NAME</tool> <args>{json}</args>?
//
// An agent asks llama.cpp for one such output a tick. The grammar makes the sampler refuse anything
// else: a tool that is not registered, arguments that are not JSON, a call before the reply. Read
// on in this order: the vocabulary, the names a registry may hold, the grammar's text, the cache
// that keeps it between ticks, and the reader that takes a sampled output apart.

#ifndef TICK_GRAMMAR_HPP
#define TICK_GRAMMAR_HPP

#define TICK_GRAMMAR_VERSION_MAJOR 0
#define TICK_GRAMMAR_VERSION_MINOR 1
#define TICK_GRAMMAR_VERSION_PATCH 0

#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "tick_grammar needs C++17 or later"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Throwing functions stay out of line and out of the hot path. Undefined again at the end.
#if defined(__GNUC__)
#define TICK_GRAMMAR_COLD [[noreturn, gnu::cold, gnu::noinline]]
#else
#define TICK_GRAMMAR_COLD [[noreturn]]
#endif

namespace tick_grammar {
inline namespace v0_1 {

// ---- Vocabulary ---------------------------------------------------------------------------------

/// Which text is emitted.
enum class edition {
  reference,  ///< Byte for byte the text of the reference implementation.
  fast,    ///< Another text for exactly the same language, several times cheaper to sample under.
  strict,  ///< As cheap as `fast`, with the holes of the reference language closed (see README).
};

/// Which tool names a registry may hold. Names are compared byte by byte and never altered.
enum class name_rule {
  identifier,  ///< ASCII letters, digits and `_`, at least one letter or digit; any length.
  mcp,         ///< Also `-` and `.`, at most 128 bytes: what the Model Context Protocol allows.
};

/// What to emit. Each member is part of a cache's key.
///
///     tick_grammar::options opts;
///     opts.require_reply = user_is_waiting;
struct options {
  bool require_reply = false;  ///< Makes the reply mandatory; it still precedes any call.
  tick_grammar::edition edition = tick_grammar::edition::reference;
  tick_grammar::name_rule names = tick_grammar::name_rule::identifier;

  friend constexpr bool operator==(const options& a, const options& b) noexcept {
    return a.require_reply == b.require_reply && a.edition == b.edition && a.names == b.names;
  }
  friend constexpr bool operator!=(const options& a, const options& b) noexcept {
    return !(a == b);
  }
};

/// The JSON part of the reference text: the rules `jobject`, `jvalue`, `jarray`, `jstring`, `jhex`,
/// `jnumber` and `jws`, a rule a line, without a newline at the end. Blank runs are bounded, so
/// that a sampler cannot pad forever. For grammars of your own: put a `root` in front.
inline constexpr std::string_view json_gbnf =
    R"(jobject ::= "{" jws ( jstring ":" jws jvalue ( "," jws jstring ":" jws jvalue )* )? "}" jws
jvalue ::= jobject | jarray | jstring | jnumber | ( "true" | "false" | "null" ) jws
jarray ::= "[" jws ( jvalue ( "," jws jvalue )* )? "]" jws
jstring ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" ( ["\\bfnrt/] | "u" jhex jhex jhex jhex ) )* "\"" jws
jhex ::= [0-9a-fA-F]
jnumber ::= "-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )? jws
jws ::= [ \t\n]{0,12})";

namespace detail {

using name_list = std::vector<std::string>;

// `name` between single quotes, every byte outside printable ASCII escaped: a hostile name can
// neither start a line of its own in a log nor reorder one (U+202E).
inline std::string quoted(std::string_view name) {
  std::string text = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') {
      text += '\\';
    }
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text += '\'';
}

inline std::string describe(const name_list& rejected) {
  if (rejected.empty()) {
    return "tool registry is empty - cannot build a grammar";
  }
  std::string text = fmt::format("tool name not grammar-safe: {}", quoted(rejected.front()));
  for (std::size_t i = 1; i < rejected.size(); ++i) {
    text += i == 1 ? fmt::format(" (and {} more: ", rejected.size() - 1) : ", ";
    text += quoted(rejected[i]);
  }
  return rejected.size() > 1 ? text += ')' : text;
}

}  // namespace detail

/// A registry that no grammar can be built for. `what()` names every refused name, quoted so that
/// it is safe to log. Copying does not throw.
class registry_error : public std::invalid_argument {
 public:
  /// `rejected`: the refused names in byte order; empty says that the registry was empty.
  explicit registry_error(std::vector<std::string> rejected)
      : std::invalid_argument(detail::describe(rejected)),
        rejected_(std::make_shared<const std::vector<std::string>>(std::move(rejected))) {}

  /// Every refused name, once, in byte order; empty when the registry itself was empty.
  [[nodiscard]] const std::vector<std::string>& rejected() const noexcept { return *rejected_; }

 private:
  std::shared_ptr<const std::vector<std::string>> rejected_;
};

// ---- Names --------------------------------------------------------------------------------------

namespace detail {

// Without exceptions a refusal ends the program, but never silently.
template <class Error>
TICK_GRAMMAR_COLD void fail(const Error& error) {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  throw error;
#else
  std::fputs(error.what(), stderr);
  std::fputc('\n', stderr);
  std::terminate();
#endif
}

TICK_GRAMMAR_COLD inline void fail_registry(name_list rejected) {
  fail(registry_error(std::move(rejected)));
}

TICK_GRAMMAR_COLD inline void fail_argument(const char* what) { fail(std::invalid_argument(what)); }

// Not std::isalnum: what a name may hold must not depend on the process's locale.
constexpr bool is_alnum(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

constexpr bool is_name_char(char c, name_rule rule) noexcept {
  return is_alnum(c) || c == '_' || (rule == name_rule::mcp && (c == '-' || c == '.'));
}

inline constexpr std::size_t mcp_name_limit = 128;

// Both rules leave out `"` and `\`, so that a name needs no escape inside a GBNF literal.
constexpr bool is_name(std::string_view name, name_rule rule) noexcept {
  bool has_alnum = false;
  for (const char c : name) {
    if (!is_name_char(c, rule)) {
      return false;
    }
    has_alnum = has_alnum || is_alnum(c);
  }
  return has_alnum && (rule == name_rule::identifier || name.size() <= mcp_name_limit);
}

inline void sort_unique(name_list& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

inline name_list rejected_of(const name_list& names, name_rule rule) {
  if (rule != name_rule::identifier && rule != name_rule::mcp) {
    fail_argument("unknown name_rule");
  }
  name_list rejected;
  std::copy_if(names.begin(), names.end(), std::back_inserter(rejected),
               [rule](const std::string& name) { return !is_name(name, rule); });
  sort_unique(rejected);
  return rejected;
}

// The name in an element of a registry: the element itself, or its `first` when that is the name.
template <class Element>
inline constexpr bool is_text = std::is_convertible_v<const Element&, std::string_view>;
template <class Element, class = void>
inline constexpr bool is_named = is_text<Element>;
template <class Pair>
inline constexpr bool is_named<Pair, std::void_t<decltype(std::declval<const Pair&>().first)>> =
    is_text<Pair> || is_text<decltype(std::declval<const Pair&>().first)>;

template <class Element>
std::string_view name_in(const Element& element) {
  if constexpr (!is_text<Element>) {
    return name_in(element.first);
  } else if constexpr (std::is_pointer_v<Element>) {
    return element != nullptr ? std::string_view(element) : std::string_view();  // refused like ""
  } else {
    return element;
  }
}

namespace range {
using std::begin;
template <class Names>
using iterator = decltype(begin(std::declval<Names&>()));
template <class Names>
using element =
    std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<iterator<Names>&>())>>;
template <class Names>
using category = typename std::iterator_traits<iterator<Names>>::iterator_category;
}  // namespace range

template <class Names, class = void>
inline constexpr bool is_registry = false;
template <class Names>
inline constexpr bool is_registry<Names, std::void_t<range::element<Names>>> =
    is_named<range::element<Names>>;

// Some C++20 views can only be walked when they are not const; copies of views are cheap.
template <class Names>
using walkable = std::conditional_t<is_registry<const Names>, const Names&, Names>;

// Whether the elements lie in memory and can be visited again. Those that a view makes on the fly
// are copied before a cache takes its lock, under which no foreign code should run.
template <class Names, class = void>
inline constexpr bool is_stored = false;
template <class Names>
inline constexpr bool is_stored<Names, std::void_t<range::category<Names>>> =
    std::is_base_of_v<std::forward_iterator_tag, range::category<Names>>;

template <class Names>
name_list copy_names(const Names& tools) {
  constexpr bool usable =
      is_registry<const Names> || (is_registry<Names> && std::is_copy_constructible_v<Names>);
  static_assert(usable,
                "tick_grammar: a registry must be a range (const or copyable) whose elements "
                "convert to std::string_view, or are pairs whose first does");
  name_list names;
  if constexpr (usable) {
    walkable<Names> walked = tools;
    for (const auto& element : walked) {
      names.emplace_back(name_in(element));
    }
  }
  return names;
}

}  // namespace detail

/// The names in `tools` that `rule` refuses, once each, in byte order: those `build_tick_grammar`
/// would throw for. A caller can drop or rename them and go on with the rest. The empty name is
/// refused; an empty registry has none to refuse.
///
/// `tools`, here and below, is any range whose elements convert to `std::string_view`, or are pairs
/// whose `first` does, so that a registry map can be passed as it is; a braced list works as well.
///
/// Throws `std::invalid_argument` for a `rule` that is no `name_rule`. Safe to call from any
/// thread.
template <class Names = std::initializer_list<std::string_view>>
[[nodiscard]] std::vector<std::string> rejected_names(const Names& tools,
                                                      name_rule rule = name_rule::identifier) {
  return detail::rejected_of(detail::copy_names(tools), rule);
}

// ---- Text ---------------------------------------------------------------------------------------
//
// An edition is a list of rules around the one that depends on the registry, `toolname`. The rules
// are raw literals in output order, since GBNF is full of braces and backslashes.
//
// What an engine pays for is the number of stacks it keeps, one for each way to read the text so
// far, and how many of them it tries for each token, from the last alternative to the first. Hence,
// in `fast` and `strict`: alternatives that begin alike are left-factored; text is right-recursive
// with its common class last; and a run of blanks is unambiguous, since a gap after a thought can
// only begin with the one blank that a thought cannot hold, the newline.

namespace detail {

inline std::string join_rules(std::initializer_list<std::string_view> rules) {
  std::string text;
  for (const std::string_view rule : rules) {
    text += text.empty() || rule.empty() ? "" : "\n";
    text += rule;
  }
  return text;
}

// `toolname ::= "bash" | "read" | …` in byte order.
inline std::string alternation(const name_list& names) {
  std::string rule = "toolname ::= ";
  for (const std::string& name : names) {
    rule += &name == &names.front() ? "\"" : " | \"";
    rule += name;
    rule += '"';
  }
  return rule;
}

inline std::size_t shared_prefix(std::string_view a, std::string_view b) noexcept {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

// The names, left-factored: `toolname ::= "bash" ( "" | "_bg" ) | "read"`. An engine keeps one
// stack for each alternative that may come next, so what costs is how many begin, not how many
// there are. Written iteratively, since a chain of prefixes nests as deep as its longest name.
// Where the rest of a name is empty stands `""`: engines give `( … )?` a rule of its own and limit
// those.
inline std::string prefix_tree(const name_list& names) {
  // Where a group opens: after `depth` bytes of names[first]. Found from the last name backwards,
  // so that the vector ends with the group that opens first.
  struct group {
    std::size_t first;
    std::size_t depth;
  };
  std::vector<group> to_open;
  std::vector<std::size_t> depths;
  for (std::size_t i = names.size(); i-- > 0;) {
    const std::size_t shared = i > 0 ? shared_prefix(names[i - 1], names[i]) : 0;
    for (; !depths.empty() && depths.back() > shared; depths.pop_back()) {
      to_open.push_back({i, depths.back()});
    }
    if (shared > 0 && (depths.empty() || depths.back() < shared)) {
      depths.push_back(shared);
    }
  }

  std::string rule = "toolname ::= ";
  const auto append_literal = [&rule](std::string_view text) {
    rule += '"';
    rule += text;
    rule += '"';
  };
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t done = i > 0 ? shared_prefix(names[i - 1], names[i]) : 0;
    for (; !open.empty() && open.back() > done; open.pop_back()) {
      rule += " )";
    }
    rule += i > 0 ? " | " : "";
    for (; !to_open.empty() && to_open.back().first == i; to_open.pop_back()) {
      const std::size_t depth = to_open.back().depth;
      append_literal(std::string_view(names[i]).substr(done, depth - done));
      rule += " ( ";
      open.push_back(depth);
      done = depth;
    }
    append_literal(std::string_view(names[i]).substr(done));
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    rule += " )";
  }
  return rule;
}

inline std::string reference_text(const name_list& names, bool require_reply) {
  const std::string_view root =
      require_reply
          ? R"(root ::= thought? reply ws toolcall? ws)"
          // At least one part: an empty output would be a tick that never was.
          : R"(root ::= ( thought reply? ws toolcall? | reply ws toolcall? | toolcall ) ws)";
  return join_rules({
      root,
      // One line without `<`, so that no second line of prose can imitate a call.
      R"(thought ::= [^<\n\r] [^<\n\r]* ws)",
      R"(reply ::= "<reply>" rtext "</reply>")",
      // Never `</`, so that the closing tag always closes.
      R"(rtext ::= ( [^<] | "<" [^/<] )*)",
      R"(toolcall ::= "<tool>" toolname "</tool>" ws "<args>" jws jobject "</args>")",
      alternation(names),
      // Bounded like every run of blanks: a model may otherwise pad until its tokens run out.
      R"(ws ::= [ \t\n]{0,12})",
      json_gbnf,
  });
}

// The gap after a reply, where an output may end, and the call.
inline constexpr std::string_view factored_call = R"(after ::= [ \t\n]{0,24} | ws "<" call
call ::= "tool>" toolname "</tool>" ws "<args>" ws jobject "</args>" ws)";

// After a thought a gap of at most 12 may lead to anything, a longer one to a call or the end.
inline constexpr std::string_view factored_gap = R"(gap ::= [ \t\n]{0,11} rest | [ \t\n]{11} after
rest ::= "" | "<" block
block ::= "reply>" reply | call)";

inline constexpr std::string_view factored_json =
    R"(jobject ::= "{" ws ( jpair ( "," ws jpair )* )? "}" ws
jpair ::= jstring ":" ws jvalue
jvalue ::= jobject | jarray | jstring | jnumber | ( "true" | "false" | "null" ) ws
jarray ::= "[" ws ( jvalue ( "," ws jvalue )* )? "]" ws
jstring ::= "\"" jchars ws
jchars ::= "\"" | "\\" jescape jchars | [^"\\\x7F\x00-\x1F] jchars)";

inline std::string fast_text(const name_list& names, bool require_reply) {
  const std::string_view root = require_reply ? R"(root ::= "<reply>" reply | [^<\n\r] thought)"
                                              : R"(root ::= "<" block | [^<\n\r] thought)";
  const std::string_view thought =
      require_reply
          ? R"(thought ::= ( "" | "\n" [ \t\n]{0,11} ) "<reply>" reply | [^<\n\r] thought)"
          : R"(thought ::= rest | "\n" gap | [^<\n\r] thought)";
  return join_rules({
      root,
      thought,
      require_reply ? "" : factored_gap,
      R"(reply ::= "</reply>" after | "<" [^/<] reply | [^<] reply)",
      factored_call,
      prefix_tree(names),
      factored_json,
      R"(jescape ::= ["\\bfnrt/] | "u" jhex jhex jhex jhex)",
      R"(jhex ::= [0-9a-fA-F])",
      R"(jnumber ::= "-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )? ws)",
      R"(ws ::= [ \t\n]{0,12})",
  });
}

inline std::string strict_text(const name_list& names, bool require_reply) {
  // Printable text that stays on one line for every reader: no control character but tab, no DEL,
  // U+0085, U+2028 or U+2029. As ranges, since XGrammar clamps what a negated class leaves out.
  const std::string_view root =
      require_reply
          ? R"(root ::= [ \t]{0,12} ( "<reply>" reply | [!-;=-~\u0080-\u0084\u0086-\u2027\u202A-\U0010FFFF] thought ))"
          : R"(root ::= [ \t]{0,12} ( "<" block | [!-;=-~\u0080-\u0084\u0086-\u2027\u202A-\U0010FFFF] thought ))";
  const std::string_view thought =
      require_reply
          ? R"(thought ::= ( "" | "\n" [ \t\n]{0,11} ) "<reply>" reply | [\t -;=-~\u0080-\u0084\u0086-\u2027\u202A-\U0010FFFF] thought)"
          : R"(thought ::= rest | "\n" gap | [\t -;=-~\u0080-\u0084\u0086-\u2027\u202A-\U0010FFFF] thought)";
  return join_rules({
      root,
      thought,
      require_reply ? "" : factored_gap,
      // `text` only after the first character that is no blank.
      R"(reply ::= [ \t\n\r] reply | "<" bracket | [^<\x00-\x20\x7F] text)",
      R"(text ::= close | [^<\x00-\x08\x0B\x0C\x0E-\x1F\x7F] text)",
      // After a `<` anything but `/` is text again, another `<` included.
      R"(bracket ::= close | [^/<\x00-\x08\x0B\x0C\x0E-\x1F\x7F] text)",
      R"(close ::= "</reply>" after | "<" bracket)",
      factored_call,
      prefix_tree(names),
      factored_json,
      R"(jescape ::= ["\\bfnrt/] | "u" ( [0-9a-cA-CeEfF] jhex jhex jhex | [dD] jpoint ))",
      // Behind `\ud` either no surrogate, or a high one and the low one that belongs to it.
      R"(jpoint ::= [0-7] jhex jhex | [89abAB] jhex jhex "\\u" [dD] [c-fC-F] jhex jhex)",
      R"(jhex ::= [0-9a-fA-F])",
      R"(jnumber ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,3} )? ws)",
      R"(ws ::= [ \t\n]{0,12})",
  });
}

inline std::string build(name_list names, const options& opts) {
  sort_unique(names);
  name_list rejected = rejected_of(names, opts.names);
  if (names.empty() || !rejected.empty()) {
    fail_registry(std::move(rejected));
  }
  switch (opts.edition) {
    case edition::reference:
      return reference_text(names, opts.require_reply);
    case edition::fast:
      return fast_text(names, opts.require_reply);
    case edition::strict:
      return strict_text(names, opts.require_reply);
  }
  fail_argument("unknown edition");
}

}  // namespace detail

/// The GBNF text under which llama.cpp can sample only legal ticks that call tools of this
/// registry. The start rule is `root`; there is no newline at the end. The same set of names and
/// the same options always give the same bytes: duplicates count once, and the order does not
/// matter.
///
///     const std::string grammar = tick_grammar::build_tick_grammar({"bash", "read_file"});
///
/// Throws `registry_error` when the registry is empty or holds names that `opts.names` refuses, and
/// `std::invalid_argument` for a value of `opts` that is none of its enumerators. A program
/// compiled without exceptions prints the message and terminates instead; do not link both kinds of
/// translation unit into one program. Safe to call from any thread.
template <class Names = std::initializer_list<std::string_view>>
[[nodiscard]] std::string build_tick_grammar(const Names& tools, const options& opts = {}) {
  return detail::build(detail::copy_names(tools), opts);
}

// ---- Cache --------------------------------------------------------------------------------------

namespace detail {

// Whether walking `tools` gives exactly `names`, in that order.
template <class Names>
bool spells(const Names& tools, const name_list& names) {
  auto expected = names.begin();
  for (const auto& element : tools) {
    if (expected == names.end() || name_in(element) != *expected) {
      return false;
    }
    ++expected;
  }
  return expected == names.end();
}

}  // namespace detail

/// Keeps the grammars of the most recently used registries, so that an unchanged registry costs one
/// comparison a tick. Meant for a handful of registries: a look-up compares with each in turn.
///
/// Every member is safe to call from any thread. Grammars are built outside the lock, and the
/// strings handed out outlive their eviction and the cache itself. A stored range (anything but a
/// view that makes its elements on the fly) is compared under the lock: walking it must not call
/// back into the same cache. Neither copyable nor movable.
class grammar_cache {
 public:
  /// Totals since construction. Every `get` that returns is either a hit or a miss.
  struct counters {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
  };

  /// `capacity`: how many grammars are kept. Throws `std::invalid_argument` when it is 0.
  explicit grammar_cache(std::size_t capacity = 16) : capacity_(capacity) {
    if (capacity == 0) {
      detail::fail_argument("a grammar_cache needs a capacity of at least 1");
    }
  }
  grammar_cache(const grammar_cache&) = delete;
  grammar_cache(grammar_cache&&) = delete;
  grammar_cache& operator=(const grammar_cache&) = delete;
  grammar_cache& operator=(grammar_cache&&) = delete;
  ~grammar_cache() = default;

  /// `build_tick_grammar(tools, opts)`, built only when it is not here yet; the least recently used
  /// grammar goes when the cache is full. Never null. As long as an entry is kept, the same object
  /// is returned for the same set of names and the same options, in whatever order and however
  /// often the names come.
  ///
  /// The order last seen is remembered: repeating it costs a comparison, allocates nothing and
  /// sorts nothing. Another order of the same names costs a build before it hits.
  ///
  /// Throws as `build_tick_grammar` does, and then leaves the cache as it was.
  template <class Names = std::initializer_list<std::string_view>>
  [[nodiscard]] std::shared_ptr<const std::string> get(const Names& tools,
                                                       const options& opts = {}) {
    if constexpr (detail::is_registry<const Names> && detail::is_stored<const Names>) {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        if (it->opts == opts && detail::spells(tools, it->names)) {
          return hit(it);
        }
      }
    }
    return get_built(detail::copy_names(tools), opts);
  }

  /// Forgets every grammar; the counters go on.
  void clear() noexcept {
    entry_list dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(entries_);
  }

  /// How many grammars are kept now: at most `capacity()`.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// A consistent copy of the counters.
  [[nodiscard]] counters stats() const noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_;
  }

 private:
  struct entry {
    options opts;
    detail::name_list names;  // as last passed in, unsorted
    std::shared_ptr<const std::string> text;
  };
  using entry_list = std::list<entry>;  // most recently used first; splicing never throws

  std::shared_ptr<const std::string> hit(entry_list::iterator it) noexcept {
    ++counters_.hits;
    entries_.splice(entries_.begin(), entries_, it);
    return it->text;
  }

  std::shared_ptr<const std::string> get_built(detail::name_list names, const options& opts) {
    auto text = std::make_shared<const std::string>(detail::build(names, opts));
    entry_list fresh;  // destroyed after the lock is released, with whatever it then holds
    fresh.push_back({opts, std::move(names), std::move(text)});

    const std::lock_guard<std::mutex> lock(mutex_);
    // With equal options the text is the registry in canonical form, so equal texts mean that the
    // names came in another order, or that another thread built them in the meantime.
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->opts == opts && *it->text == *fresh.front().text) {
        it->names.swap(fresh.front().names);
        return hit(it);
      }
    }
    ++counters_.misses;
    entries_.splice(entries_.begin(), fresh);
    if (entries_.size() > capacity_) {
      ++counters_.evictions;
      fresh.splice(fresh.end(), entries_, std::prev(entries_.end()));
    }
    return entries_.front().text;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  entry_list entries_;
  counters counters_;
};

namespace detail {

// Never destroyed: the destructor of some other static object may still ask for a grammar.
inline grammar_cache& process_cache() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static grammar_cache& cache = *new grammar_cache;
  return cache;
}

}  // namespace detail

/// `grammar_cache::get` of one process-wide cache of the default capacity: call it before every
/// request.
///
///     request["grammar"] = *tick_grammar::tick_grammar_cached(registry, opts);
template <class Names = std::initializer_list<std::string_view>>
[[nodiscard]] std::shared_ptr<const std::string> tick_grammar_cached(const Names& tools,
                                                                     const options& opts = {}) {
  return detail::process_cache().get(tools, opts);
}

// ---- Reader -------------------------------------------------------------------------------------

/// How far a text keeps the contract.
enum class tick_status {
  complete,   ///< A legal output as it stands.
  partial,    ///< The beginning of one: still streaming, or cut by a token limit.
  malformed,  ///< Neither: the sampler ran without the grammar.
};

/// A call that has arrived whole.
struct tool_call {
  std::string_view name;
  std::string_view args;  ///< The JSON object's text, from `{` to the `}` that closes it.
};

/// What `read_tick` found. All views point into the text it was given.
struct tick {
  tick_status status = tick_status::partial;
  std::string_view thought;               ///< Without blanks at its end; empty when there is none.
  std::optional<std::string_view> reply;  ///< While it streams: what has arrived, without the start
                                          ///< of its closing tag.
  bool reply_closed = false;
  std::optional<tool_call> call;  ///< Once `</args>` has arrived.
  std::size_t consumed = 0;       ///< Bytes on the contract: less than the size only if malformed.
};

namespace detail {

// Blanks between two parts. A part that is left out merges the gaps around it into one.
inline constexpr std::size_t gap_limit = 12;

// Walks over a text. A step that fails has consumed whatever did fit, so that `at` is then either
// the end of a text that was cut or the first byte off the contract.
struct cursor {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] bool at_end() const noexcept { return at == text.size(); }
  [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text[at]; }
  [[nodiscard]] std::string_view since(std::size_t start) const noexcept {
    return {text.data() + start, at - start};
  }

  bool literal(std::string_view expected) noexcept {
    const std::string_view rest = {text.data() + at, text.size() - at};
    const auto first_other =
        std::mismatch(expected.begin(), expected.end(), rest.begin(), rest.end()).first;
    at += static_cast<std::size_t>(first_other - expected.begin());
    return first_other == expected.end();
  }

  std::size_t blanks(std::size_t most) noexcept {
    const std::size_t start = at;
    while (at - start < most && (peek() == ' ' || peek() == '\t' || peek() == '\n')) {
      ++at;
    }
    return at - start;
  }

  // Up to 12 blanks, which may be none.
  bool gap() noexcept {
    blanks(gap_limit);
    return true;
  }

  bool name(std::string_view& found) noexcept {
    const std::size_t start = at;
    bool has_alnum = false;
    for (; is_name_char(peek(), name_rule::mcp); ++at) {
      has_alnum = has_alnum || is_alnum(peek());
    }
    found = since(start);
    return has_alnum;
  }

  bool json_string() noexcept {
    for (++at; !is_control(peek()); ++at) {
      if (peek() == '"') {
        ++at;
        return true;
      }
      if (peek() == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\')) {
        ++at;
      }
    }
    return false;
  }

  // From `{` to its `}`. Braces and brackets are counted, not matched: matching them would take
  // memory, and the caller's JSON library does it anyway.
  bool json_object(std::string_view& found) noexcept {
    constexpr std::string_view structure = "{}[],:+-.0123456789Eaeflnrstu \t\n";
    const std::size_t start = at;
    std::size_t depth = 0;
    while (depth > 0 || peek() == '{') {
      const char c = peek();
      if (c == '"') {
        if (!json_string()) {
          return false;
        }
        continue;
      }
      if (structure.find(c) == std::string_view::npos || (c == ']' && depth == 1)) {
        return false;
      }
      ++at;
      if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        found = since(start);
        return true;
      }
    }
    return false;
  }
};

// These two return whether the output may end where the cursor then stands.
inline bool read_call(cursor& in, tick& out) noexcept {
  tool_call call;
  if (in.literal("tool>") && in.name(call.name) && in.literal("</tool>") && in.gap() &&
      in.literal("<args>") && in.gap() && in.json_object(call.args) && in.gap() &&
      in.literal("</args>")) {
    out.call = call;
    return in.gap();
  }
  return false;
}

inline bool read_reply(cursor& in, tick& out) noexcept {
  if (!in.literal("reply>")) {
    return false;
  }
  const std::size_t start = in.at;
  in.at = std::min(in.text.find("</", start), in.text.size());
  if (in.at_end() && in.at > start && in.text.back() == '<') {
    --in.at;  // may yet turn out to begin the closing tag
  }
  out.reply = in.since(start);
  if (!in.literal("</reply>")) {
    return false;
  }
  out.reply_closed = true;
  const std::size_t blanks = in.blanks(2 * gap_limit);
  if (in.at_end()) {
    return true;
  }
  return blanks <= gap_limit && in.literal("<") && read_call(in, out);
}

inline bool read_parts(cursor& in, tick& out) noexcept {
  in.at = std::min(in.text.find_first_of("<\n\r"), in.text.size());
  const bool has_thought = in.at > 0;
  out.thought = in.since(0);
  while (!out.thought.empty() && (out.thought.back() == ' ' || out.thought.back() == '\t')) {
    out.thought.remove_suffix(1);
  }
  // A thought takes all the blanks of its line, so what follows it begins with a newline.
  const std::size_t blanks = has_thought ? in.blanks(3 * gap_limit) : 0;
  if (in.at_end()) {
    return has_thought;
  }
  if (blanks > 2 * gap_limit || !in.literal("<")) {
    return false;
  }
  return in.peek() == 'r' && blanks <= gap_limit ? read_reply(in, out) : read_call(in, out);
}

}  // namespace detail

/// Takes one output apart, from left to right: never by searching for tags, which a reply or a JSON
/// string may quote. Views into `output`; allocates nothing; linear time, whatever the bytes.
///
/// To stream, call it again on the growing text: the reply only ever grows, and the call appears
/// once, whole. A grammar guarantees every beginning of an output but not its end, so look at
/// `status` before acting on a call.
///
/// It reads what any edition emits, with names as `name_rule::mcp` spells them but of any length,
/// and is not a validator: of the JSON it checks strings, the bytes between them and the depth of
/// nesting. Parse `args` with a JSON library, and look `name` up in the registry.
///
///     const tick_grammar::tick tick = tick_grammar::read_tick(output);
///     if (tick.status == tick_grammar::tick_status::complete && tick.call) {
///       run(tick.call->name, tick.call->args);
///     }
///
/// Safe to call from any thread.
[[nodiscard]] inline tick read_tick(std::string_view output) noexcept {
  tick result;
  detail::cursor in{output};
  const bool may_end = detail::read_parts(in, result);
  result.consumed = in.at;
  if (!in.at_end()) {
    result.status = tick_status::malformed;
  } else if (may_end) {
    result.status = tick_status::complete;
  }
  return result;
}

}  // namespace v0_1
}  // namespace tick_grammar

#undef TICK_GRAMMAR_COLD

#endif  // TICK_GRAMMAR_HPP
