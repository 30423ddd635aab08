// tick_grammar: the GBNF grammar of one agent tick, rebuilt only when the tool registry changes.
// SPDX-License-Identifier: MIT
//
//     thought?  <reply>text</reply>?  <tool>NAME</tool> <args>{json}</args>?
//
// An agent asks llama.cpp for one such output a tick; the grammar makes the sampler refuse anything
// else. In this order: the vocabulary, the names a registry may hold, the grammar's text, the cache
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
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// What to emit, and from which names. Every member is part of a cache's key.
struct options {
  bool require_reply = false;  ///< Makes the reply mandatory; it still precedes any call.
  tick_grammar::edition edition = tick_grammar::edition::reference;
  tick_grammar::name_rule names = tick_grammar::name_rule::identifier;
  constexpr bool operator==(const options& other) const noexcept {
    return require_reply == other.require_reply && edition == other.edition && names == other.names;
  }
  constexpr bool operator!=(const options& other) const noexcept { return !(*this == other); }
};

/// The JSON rules of the reference text, from `jobject` to `jws`, a rule a line, no newline at the
/// end. For grammars of your own: put a `root` in front.
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
inline std::string quote_name(std::string_view name) {
  std::string text = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c >= ' ' && c <= '~' ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text += '\'';
}

inline std::string describe(const name_list& rejected) {
  if (rejected.empty()) return "tool registry is empty - cannot build a grammar";
  std::string text = "tool name not grammar-safe: " + quote_name(rejected.front());
  if (rejected.size() == 1) return text;
  text += fmt::format(" (and {} more", rejected.size() - 1);
  for (std::size_t i = 1; i < rejected.size(); ++i) {
    text += (i == 1 ? ": " : ", ") + quote_name(rejected[i]);
  }
  return text += ')';
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
  const std::shared_ptr<const std::vector<std::string>> rejected_;  // const: a move copies it
};

// ---- Names --------------------------------------------------------------------------------------

namespace detail {
// Out of line, so that the code that may fail stays small. Without exceptions a failure ends the
// program, but never in silence.
template <class Error>
#if defined(__GNUC__)
[[gnu::cold, gnu::noinline]]
#endif
[[noreturn]] void
fail(const Error& error) {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  throw error;
#else
  std::fputs((std::string(error.what()) + '\n').c_str(), stderr);
  std::terminate();
#endif
}

// Not std::isalnum: what a name may hold must not depend on the process's locale.
constexpr bool is_alnum(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr bool is_name_char(char c, name_rule rule) noexcept {
  return is_alnum(c) || c == '_' || (rule == name_rule::mcp && (c == '-' || c == '.'));
}

// Both rules leave out `"` and `\`, so that a name needs no escape inside a GBNF literal.
constexpr bool is_name(std::string_view name, name_rule rule) noexcept {
  bool has_alnum = false;
  for (const char c : name) {
    if (!is_name_char(c, rule)) return false;
    has_alnum = has_alnum || is_alnum(c);
  }
  return has_alnum && (rule == name_rule::identifier || name.size() <= 128);
}

inline void sort_unique(name_list& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

inline name_list rejected_of(const name_list& names, name_rule rule) {
  if (rule != name_rule::identifier && rule != name_rule::mcp) {
    fail(std::invalid_argument("unknown name_rule"));
  }
  name_list rejected;
  const auto refused = [rule](const std::string& name) { return !is_name(name, rule); };
  std::copy_if(names.begin(), names.end(), std::back_inserter(rejected), refused);
  sort_unique(rejected);
  return rejected;
}

// The name in an element of a registry: the element itself, or else its `first`.
template <class T>
inline constexpr bool is_text = std::is_convertible_v<T, std::string_view>;

template <class Text, std::enable_if_t<is_text<const Text&>, int> = 0>
std::string_view name_in(const Text& text) {
  if constexpr (std::is_pointer_v<Text>) {
    if (text == nullptr) return {};  // refused like any other empty name
  }
  return text;
}
template <class Pair, std::enable_if_t<!is_text<const Pair&>, int> = 0>
auto name_in(const Pair& p) -> std::enable_if_t<is_text<decltype((p.first))>, std::string_view> {
  return detail::name_in(p.first);
}

template <class Names>
using iterator_of = decltype(std::begin(std::declval<Names&>()));

template <class Names, class = void>
inline constexpr bool is_registry = false;
template <class Names>
inline constexpr bool is_registry<
    Names, std::void_t<decltype(std::end(std::declval<Names&>())),
                       decltype(detail::name_in(*std::declval<iterator_of<Names>&>()))>> = true;

// Some C++20 views can only be walked when they are not const; copies of views are cheap.
template <class Names>
using walkable = std::conditional_t<is_registry<const Names>, const Names&, Names>;

// Whether the elements lie in memory, to be visited again. Those that a view makes on the fly are
// copied before a cache takes its lock, under which no foreign code should run.
template <class Names>
using category_of = typename std::iterator_traits<iterator_of<Names>>::iterator_category;
template <class Names, class = void>
inline constexpr bool is_stored = false;
template <class Names>
inline constexpr bool is_stored<Names, std::void_t<category_of<Names>>> =
    is_registry<Names>&& std::is_base_of_v<std::forward_iterator_tag, category_of<Names>>;

template <class Names>
name_list copy_names(const Names& tools) {
  constexpr bool usable =
      is_registry<const Names> || (is_registry<Names> && std::is_copy_constructible_v<Names>);
  static_assert(usable,
                "tick_grammar: a registry must be a range, readable when const or copied, whose "
                "elements convert to std::string_view, or are pairs whose first does");
  name_list names;
  if constexpr (usable) {
    walkable<Names> walked = tools;
    for (const auto& element : walked) names.emplace_back(detail::name_in(element));
  }
  return names;
}
}  // namespace detail

/// The names in `tools` that `rule` refuses, once each, in byte order: those `build_tick_grammar`
/// would throw for. A caller can drop or rename them and go on with the rest.
/// `tools`, here and below, is any range whose elements convert to `std::string_view`, or are pairs
/// whose `first` does, so that a registry map can be passed as it is; or a braced list.
/// Throws `std::invalid_argument` for a `rule` that is no `name_rule`. Callable from any thread.
template <class Names = std::initializer_list<std::string_view>>
[[nodiscard]] std::vector<std::string> rejected_names(const Names& tools,
                                                      name_rule rule = name_rule::identifier) {
  return detail::rejected_of(detail::copy_names(tools), rule);
}

// ---- Text ---------------------------------------------------------------------------------------
//
// An edition is a list of rules around the one that depends on the registry, `toolname`. An engine
// pays for each way to read the text so far, a stack each, and tries them from the last alternative
// to the first. Hence, in `fast` and `strict`: alternatives that begin alike are left-factored,
// text is right-recursive with its common class last, and a gap behind a thought can only begin
// with the one blank that the thought cannot hold, the newline.

namespace detail {
inline std::string join_rules(std::initializer_list<std::string_view> rules) {
  std::string text;
  for (const std::string_view rule : rules) {
    text.append(text.empty() || rule.empty() ? "" : "\n").append(rule);
  }
  return text;
}

inline std::string alternation(const name_list& names) {
  std::string rule;
  for (const std::string& name : names) {
    rule += (rule.empty() ? "toolname ::= \"" : " | \"") + name + '"';
  }
  return rule;
}

inline std::size_t shared_prefix(std::string_view a, std::string_view b) noexcept {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

// The names, left-factored: `toolname ::= "bash" ( "" | "_bg" ) | "read"`. What costs an engine is
// how many alternatives begin here, not how many names there are. Iterative, since a chain of
// prefixes nests as deep as its longest name; `""`, since engines limit the `?` in a text.
inline std::string prefix_tree(const name_list& names) {
  std::vector<std::size_t> shared(names.size() + 1, 0);  // how many bytes with the name before
  for (std::size_t i = 1; i < names.size(); ++i) shared[i] = shared_prefix(names[i - 1], names[i]);

  std::string rule = "toolname ::= ";
  std::vector<std::size_t> open;  // the groups around this place, by how many bytes they share
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t done = shared[i];
    for (; !open.empty() && open.back() > done; open.pop_back()) rule += " )";
    rule += i > 0 ? " | " : "";
    // A group begins here for each time that the names behind share fewer bytes than before.
    const std::size_t outer = open.size();
    for (std::size_t j = i + 1; shared[j] > done; ++j) {
      const bool fewer = open.size() == outer || shared[j] < open[outer];
      if (fewer) open.insert(open.begin() + static_cast<std::ptrdiff_t>(outer), shared[j]);
    }
    for (std::size_t g = outer; g < open.size(); done = open[g++]) {
      rule += '"' + names[i].substr(done, open[g] - done) + "\" ( ";
    }
    rule += '"' + names[i].substr(done) + '"';
  }
  for (; !open.empty(); open.pop_back()) rule += " )";
  return rule;
}

inline std::string reference_text(const name_list& names, bool require_reply) {
  return join_rules({
      // At least one part, or an empty output would be a tick that never was.
      require_reply
          ? R"(root ::= thought? reply ws toolcall? ws)"
          : R"(root ::= ( thought reply? ws toolcall? | reply ws toolcall? | toolcall ) ws)",
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

// The rules in which `fast` and `strict` differ, in the order of the text.
struct factored_rules {
  std::string_view any_part;       // what a tick begins with, at least one part
  std::string_view require_reply;  // the same when the reply is one of them
  std::string_view reply;          // behind `<reply>`
  std::string_view values;         // what JSON strings and numbers hold
};

inline constexpr factored_rules fast_rules = {
    R"(root ::= "<" block | [^<\n\r] thought
thought ::= rest | "\n" gap | [^<\n\r] thought)",
    R"(root ::= "<reply>" reply | [^<\n\r] thought
thought ::= ( "" | "\n" [ \t\n]{0,11} ) "<reply>" reply | [^<\n\r] thought)",
    R"(reply ::= "</reply>" after | "<" [^/<] reply | [^<] reply)",
    R"(jescape ::= ["\\bfnrt/] | "u" jhex jhex jhex jhex
jhex ::= [0-9a-fA-F]
jnumber ::= "-"? ( "0" | [1-9] [0-9]* ) ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )? ws)"};

// A thought is one line for every reader: no ASCII control character but tab, no DEL, U+0085,
// U+2028 or U+2029; as positive ranges, two of them overlapping, since XGrammar cuts their ends to
// a byte. A reply is `text` from its first non-blank on, and behind a `<` all but `/` is text
// again. Surrogates come in pairs, a high one and its low one.
inline constexpr factored_rules strict_rules = {
    R"(root ::= [ \t]{0,12} ( "<" block | [!-;=-~\u0080-\u0084\u0086-\u2027\u202A-\u3000\u2F80-\U0010FFFF] thought )
thought ::= rest | "\n" gap | [\t -;=-~\u0080-\u0084\u0086-\u2027\u202A-\u3000\u2F80-\U0010FFFF] thought)",
    R"(root ::= [ \t]{0,12} ( "<reply>" reply | [!-;=-~\u0080-\u0084\u0086-\u2027\u202A-\u3000\u2F80-\U0010FFFF] thought )
thought ::= ( "" | "\n" [ \t\n]{0,11} ) "<reply>" reply | [\t -;=-~\u0080-\u0084\u0086-\u2027\u202A-\u3000\u2F80-\U0010FFFF] thought)",
    R"(reply ::= [ \t\n\r] reply | "<" bracket | [^<\x00-\x20\x7F] text
text ::= close | [^<\x00-\x08\x0B\x0C\x0E-\x1F\x7F] text
bracket ::= close | [^/<\x00-\x08\x0B\x0C\x0E-\x1F\x7F] text
close ::= "</reply>" after | "<" bracket)",
    R"(jescape ::= ["\\bfnrt/] | "u" ( [0-9a-cA-CeEfF] jhex jhex jhex | [dD] jpoint )
jpoint ::= [0-7] jhex jhex | [89abAB] jhex jhex "\\u" [dD] [c-fC-F] jhex jhex
jhex ::= [0-9a-fA-F]
jnumber ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,3} )? ws)"};

inline std::string factored_text(const factored_rules& rules, const name_list& names,
                                 bool require_reply) {
  return join_rules({
      require_reply ? rules.require_reply : rules.any_part,
      // A gap of at most 12 may lead to anything, a longer one to a call or the end.
      require_reply ? "" : R"(gap ::= [ \t\n]{0,11} rest | [ \t\n]{11} after
rest ::= "" | "<" block
block ::= "reply>" reply | call)",
      rules.reply,
      R"(after ::= [ \t\n]{0,24} | ws "<" call
call ::= "tool>" toolname "</tool>" ws "<args>" ws jobject "</args>" ws)",
      prefix_tree(names),
      R"(jobject ::= "{" ws ( jpair ( "," ws jpair )* )? "}" ws
jpair ::= jstring ":" ws jvalue
jvalue ::= jobject | jarray | jstring | jnumber | ( "true" | "false" | "null" ) ws
jarray ::= "[" ws ( jvalue ( "," ws jvalue )* )? "]" ws
jstring ::= "\"" jchars ws
jchars ::= "\"" | "\\" jescape jchars | [^"\\\x7F\x00-\x1F] jchars)",
      rules.values,
      R"(ws ::= [ \t\n]{0,12})",
  });
}

inline std::string build(name_list names, const options& opts) {
  sort_unique(names);
  name_list rejected = rejected_of(names, opts.names);
  if (names.empty() || !rejected.empty()) fail(registry_error(std::move(rejected)));
  if (opts.edition == edition::reference) return reference_text(names, opts.require_reply);
  if (opts.edition == edition::fast) return factored_text(fast_rules, names, opts.require_reply);
  if (opts.edition == edition::strict)
    return factored_text(strict_rules, names, opts.require_reply);
  fail(std::invalid_argument("unknown edition"));
}
}  // namespace detail

/// The GBNF text under which llama.cpp can sample only legal ticks that call this registry's tools.
/// The start rule is `root`; there is no newline at the end. The same set of names and the same
/// options give the same bytes.
/// Throws `registry_error` when the registry is empty or holds names that `opts.names` refuses, and
/// `std::invalid_argument` for a value of `opts` that is no enumerator; without exceptions prints
/// the message and terminates (do not mix both modes in one program). Callable from any thread.
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
    if (expected == names.end() || detail::name_in(element) != *expected) return false;
    ++expected;
  }
  return expected == names.end();
}
}  // namespace detail

/// Keeps the grammars of the most recently used registries, so that an unchanged registry costs one
/// comparison a tick. Meant for a handful: a look-up compares with each in turn. Not copyable.
/// Every member is callable from any thread. Grammars are built outside the lock; the strings
/// handed out outlive their eviction and the cache itself. A stored range is compared under the
/// lock, so walking it must not call back into the same cache.
class grammar_cache {
 public:
  /// Totals since construction; every `get` that returns is a hit or a miss.
  struct counters {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
  };

  /// `capacity`: how many grammars are kept. Throws `std::invalid_argument` when it is 0.
  explicit grammar_cache(std::size_t capacity = 16) : capacity_(capacity) {
    if (capacity == 0) detail::fail(std::invalid_argument("a grammar_cache of capacity 0"));
  }

  /// `build_tick_grammar(tools, opts)`, built only when it is not kept already; the least recently
  /// used grammar goes when the cache is full. Never null. While it is kept, the same set of names
  /// with the same options gives the same object. Repeating the order last seen costs a comparison
  /// and allocates nothing (a view's names are copied first); another order costs a build to hit.
  /// Throws as `build_tick_grammar` does, and then leaves the cache as it was.
  template <class Names = std::initializer_list<std::string_view>>
  [[nodiscard]] std::shared_ptr<const std::string> get(const Names& tools,
                                                       const options& opts = {}) {
    if constexpr (!detail::is_stored<const Names>) {
      return get(detail::copy_names(tools), opts);
    } else {
      auto kept = find(tools, opts);
      return kept ? kept : get_built(detail::copy_names(tools), opts);
    }
  }

  /// Forgets every grammar; the counters go on.
  void clear() noexcept {
    std::vector<entry> dropped;  // destroyed after the lock is released
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(entries_);
  }

  /// How many grammars are kept now.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

  /// How many grammars are kept at most.
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

  template <class Names>
  std::shared_ptr<const std::string> find(const Names& tools, const options& opts) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->opts == opts && detail::spells(tools, it->names)) return used(it, counters_.hits);
    }
    return nullptr;
  }

  // Counts the use and brings the entry to the front.
  std::shared_ptr<const std::string> used(std::vector<entry>::iterator it,
                                          std::uint64_t& counter) noexcept {
    ++counter;
    for (; it != entries_.begin(); --it) std::swap(*it, *std::prev(it));
    return it->text;
  }

  std::shared_ptr<const std::string> get_built(detail::name_list names, const options& opts) {
    auto text = std::make_shared<const std::string>(detail::build(names, opts));
    entry fresh{opts, std::move(names), std::move(text)};
    const std::lock_guard<std::mutex> lock(mutex_);
    // With equal options the text is the registry in canonical form, so equal texts mean that the
    // names came in another order, or that another thread built them in the meantime.
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->opts == opts && *it->text == *fresh.text) {
        it->names.swap(fresh.names);
        return used(it, counters_.hits);
      }
    }
    entries_.push_back(std::move(fresh));  // if it throws, nothing has changed
    auto kept = used(std::prev(entries_.end()), counters_.misses);
    if (entries_.size() > capacity_) {
      fresh = std::move(entries_.back());  // destroyed after the lock is released
      entries_.pop_back();
      ++counters_.evictions;
    }
    return kept;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<entry> entries_;  // most recently used first
  counters counters_;
};

namespace detail {
// Never destroyed: the destructor of some other static object may still ask for a grammar.
inline grammar_cache& process_cache() {
  static grammar_cache& cache = *new grammar_cache;
  return cache;
}
}  // namespace detail

/// `get` of one process-wide `grammar_cache`; shared libraries may have their own. Before each
/// request:
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
  std::string_view thought;               ///< Without its trailing blanks; may be empty.
  std::optional<std::string_view> reply;  ///< What has arrived, to the byte, without closing tag.
  bool reply_closed = false;              ///< Whether the reply is whole.
  std::optional<tool_call> call;          ///< Once `</args>` has arrived.
  std::size_t consumed = 0;  ///< Bytes on the contract: less than the size only if malformed.
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
    const std::size_t shared = shared_prefix(expected, {text.data() + at, text.size() - at});
    at += shared;
    return shared == expected.size();
  }

  std::size_t blanks(std::size_t most) noexcept {
    const std::size_t start = at;
    while (at - start < most && (peek() == ' ' || peek() == '\t' || peek() == '\n')) ++at;
    return at - start;
  }

  bool spaced(std::string_view expected) noexcept {
    blanks(gap_limit);
    return literal(expected);
  }

  bool name(std::string_view& found) noexcept {
    const std::size_t start = at;
    bool has_alnum = false;
    for (; is_name_char(peek(), name_rule::mcp); ++at) has_alnum = has_alnum || is_alnum(peek());
    found = since(start);
    return has_alnum;
  }

  bool json_string() noexcept {
    for (; static_cast<unsigned char>(peek()) >= 0x20 && peek() != 0x7F; ++at) {
      if (literal("\"")) return true;
      const char next = at + 1 < text.size() ? text[at + 1] : '\0';
      if (peek() == '\\' && (next == '"' || next == '\\')) ++at;
    }
    return false;
  }

  // From behind `{` to its `}`. Braces and brackets are counted, not matched: matching them would
  // take memory, and the caller's JSON library does it anyway.
  bool json_object() noexcept {
    constexpr std::string_view structure = "{}[]\",:+-.0123456789Eaeflnrstu \t\n";
    for (std::size_t depth = 1; depth > 0;) {
      const char c = peek();
      if (structure.find(c) == std::string_view::npos || (c == ']' && depth == 1)) return false;
      ++at;
      if (c == '"' && !json_string()) return false;
      depth += c == '{' || c == '[' ? 1 : 0;
      depth -= c == '}' || c == ']' ? 1 : 0;
    }
    return true;
  }
};

// These two return whether the output may end where the cursor then stands.
inline bool read_call(cursor& in, tick& out) noexcept {
  tool_call call;
  if (!in.literal("tool>") || !in.name(call.name) || !in.literal("</tool>")) return false;
  if (!in.spaced("<args>") || !in.spaced("{")) return false;
  const std::size_t start = in.at - 1;
  if (!in.json_object()) return false;
  call.args = in.since(start);
  if (!in.spaced("</args>")) return false;
  out.call = call;
  in.blanks(gap_limit);
  return true;
}

inline bool read_reply(cursor& in, tick& out) noexcept {
  if (!in.literal("reply>")) return false;
  const std::size_t start = in.at;
  in.at = (std::min)(in.text.find("</", start), in.text.size());
  // A `<` at the end may yet turn out to begin the closing tag.
  if (in.at_end() && in.text.back() == '<') --in.at;
  out.reply = in.since(start);
  if (!in.literal("</reply>")) return false;
  out.reply_closed = true;
  const std::size_t blanks = in.blanks(2 * gap_limit);
  return in.at_end() || (blanks <= gap_limit && in.literal("<") && read_call(in, out));
}

inline bool read_parts(cursor& in, tick& out) noexcept {
  in.at = (std::min)(in.text.find_first_of("<\n\r"), in.text.size());
  const bool has_thought = in.at > 0;
  out.thought = in.since(0).substr(0, in.since(0).find_last_not_of(" \t") + 1);
  // A thought takes all the blanks of its line, so what follows it begins with a newline.
  const std::size_t blanks = has_thought ? in.blanks(3 * gap_limit) : 0;
  if (in.at_end()) return has_thought;
  if (blanks > 2 * gap_limit || !in.literal("<")) return false;
  return in.peek() == 'r' && blanks <= gap_limit ? read_reply(in, out) : read_call(in, out);
}
}  // namespace detail

/// Takes one output apart, from left to right, never by searching for tags, which a reply or a JSON
/// string may quote. Allocates nothing; linear time, whatever the bytes. Callable from any thread.
/// To stream, call it again on the growing text: the reply only ever grows, and the call appears
/// once, whole. A grammar guarantees every beginning of an output but not its end, so look at
/// `status` before acting on a call.
///
/// It reads what any edition emits, with names of the characters that `name_rule::mcp` allows, and
/// is no validator: of the JSON it checks strings, the bytes between them and the depth of nesting.
/// Parse `args` with a JSON library, and look `name` up in the registry.
///
///     const auto tick = tick_grammar::read_tick(output);
///     if (tick.status == tick_grammar::tick_status::complete && tick.call) run(*tick.call);
[[nodiscard]] inline tick read_tick(std::string_view output) noexcept {
  tick result;
  detail::cursor in{output};
  const bool may_end = detail::read_parts(in, result);
  result.consumed = in.at;
  if (!in.at_end() || may_end) {
    result.status = in.at_end() ? tick_status::complete : tick_status::malformed;
  }
  return result;
}

}  // namespace v0_1
}  // namespace tick_grammar

#endif  // TICK_GRAMMAR_HPP
