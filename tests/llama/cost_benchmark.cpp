// What each edition costs a real llama.cpp, beside a grammar that allows anything.
//
//     cost_benchmark [--csv FILE] [--svg FILE]
//
// A mask is one llama_sampler_apply over the whole vocabulary, as callers pay for it who put the
// grammar first. Times are the minimum of several, the grammars in turn at each position, so that a
// busy machine slows them alike; compare the columns of one run, not two runs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "../golden.hpp"
#include "engine.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using strings = std::vector<std::string>;

constexpr int repeats = 5;

// One tick, in pieces that end where a mask is looked at in particular.
struct piece {
  const char* text;
  const char* position;  // null: only part of the sum
};
const std::vector<piece> tick = {
    {"", "start"},
    {"The user wants the disk usage of", "in the thought"},
    {" the home folder.\n<reply>Let me have a", "in the reply"},
    {" look at it, one moment please.</reply>\n<tool>", "after <tool>"},
    {"bash</tool> <args>{\"cmd\": \"du -sh", "in a JSON string"},
    {" /home/*\", \"timeout\": 30, \"tags\": [\"disk\", true]}</args>", nullptr},
};

struct cost {
  std::string grammar;
  std::string names;  // the registry's label
  double parse_ms = 0;
  std::vector<double> position_ms;  // a mask each, in the order of `tick`
  double sum_ms = 0;                // masks at every token of the tick
  double accept_us = 0;             // a token, on average
};

// The first names of real registries, then variations of them.
strings registry_of(std::size_t size) {
  strings names;
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (names.size() < size && known.insert(name).second) {
      names.push_back(name);
    }
  };
  for (const char* registry : {"five_tools", "eidos_tools", "github_mcp", "playwright_mcp"}) {
    for (const std::string& name : golden::names(registry)) {
      add(name);
    }
  }
  for (std::size_t i = 0; names.size() < size; ++i) {
    add(fmt::format("{}_{}", names[i], i));
  }
  return names;
}

// All but the tick's own tool under one prefix, as clients of several servers name tools.
strings prefixed(strings names) {
  for (std::string& name : names) {
    name = name == "bash" ? name : "mcp_" + name;
  }
  return names;
}

std::size_t first_letters(const strings& names) {
  std::set<char> letters;
  for (const std::string& name : names) {
    letters.insert(name.front());
  }
  return letters.size();
}

template <class Call>
double milliseconds(const Call& call) {
  const auto start = clock_type::now();
  call();
  return std::chrono::duration<double, std::milli>(clock_type::now() - start).count();
}

double mask_ms(const engine::vocabulary& vocab, engine::grammar& grammar) {
  std::vector<llama_token_data> candidates(vocab.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = {static_cast<llama_token>(i), 0.0F, 0.0F};
  }
  return milliseconds([&] { grammar.apply(candidates); });
}

struct contender {
  std::string name;
  std::string text;
};

std::vector<contender> contenders(const strings& names) {
  std::vector<contender> all;
  for (const auto& [name, e] : {std::pair{"reference", tick_grammar::edition::reference},
                                std::pair{"fast", tick_grammar::edition::fast},
                                std::pair{"strict", tick_grammar::edition::strict}}) {
    tick_grammar::options opts;
    opts.edition = e;
    all.push_back({name, tick_grammar::build_tick_grammar(names, opts)});
  }
  all.push_back({"anything", "root ::= .*"});
  return all;
}

std::vector<cost> measure(const engine::vocabulary& vocab, const std::string& label,
                          const strings& names) {
  std::vector<cost> costs;
  std::vector<engine::grammar> grammars;
  const std::vector<contender> all = contenders(names);
  grammars.reserve(all.size());
  for (const contender& c : all) {
    cost& made = costs.emplace_back();
    made.grammar = c.name;
    made.names = label;
    made.parse_ms = 1e30;
    for (int i = 0; i < repeats; ++i) {
      made.parse_ms =
          std::min(made.parse_ms, milliseconds([&] { engine::grammar(vocab, c.text); }));
    }
    grammars.emplace_back(vocab, c.text);
  }

  std::size_t tokens = 0;
  const auto masks_here = [&] {
    std::vector<double> best(grammars.size(), 1e30);
    for (int i = 0; i < repeats; ++i) {
      for (std::size_t g = 0; g < grammars.size(); ++g) {
        best[g] = std::min(best[g], mask_ms(vocab, grammars[g]));
      }
    }
    for (std::size_t g = 0; g < grammars.size(); ++g) {
      costs[g].sum_ms += best[g];
    }
    return best;
  };
  std::vector<double> here = masks_here();
  for (const piece& p : tick) {
    for (const llama_token token : vocab.tokenize(p.text)) {
      for (std::size_t g = 0; g < grammars.size(); ++g) {
        if (!grammars[g].allows(token)) {
          throw std::runtime_error(costs[g].grammar + " refuses " + vocab.piece(token));
        }
        costs[g].accept_us += 1000 * milliseconds([&] { grammars[g].accept(token); });
      }
      here = masks_here();
      ++tokens;
    }
    for (std::size_t g = 0; g < grammars.size() && p.position != nullptr; ++g) {
      costs[g].position_ms.push_back(here[g]);
    }
  }
  for (cost& c : costs) {
    c.accept_us /= static_cast<double>(tokens);
  }
  return costs;
}

strings columns() {
  strings names = {"names", "grammar", "parse"};
  for (const piece& p : tick) {
    if (p.position != nullptr) {
      names.emplace_back(p.position);
    }
  }
  names.emplace_back("whole tick");
  names.emplace_back("accept/us");
  return names;
}

strings row(const cost& c) {
  strings cells = {c.names, c.grammar, fmt::format("{:.2f}", c.parse_ms)};
  for (const double ms : c.position_ms) {
    cells.push_back(fmt::format("{:.1f}", ms));
  }
  cells.push_back(fmt::format("{:.0f}", c.sum_ms));
  cells.push_back(fmt::format("{:.1f}", c.accept_us));
  return cells;
}

void print_table(const std::vector<cost>& costs) {
  const auto print = [](const strings& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) {
      line += fmt::format(" {:>15} |", cell);
    }
    std::puts(line.c_str());
  };
  print(columns());
  print(strings(columns().size(), "---:"));
  for (const cost& c : costs) {
    print(row(c));
  }
}

const cost& find(const std::vector<cost>& costs, const std::string& names,
                 const std::string& grammar) {
  const auto found = std::find_if(costs.begin(), costs.end(), [&](const cost& c) {
    return c.names == names && c.grammar == grammar;
  });
  return *found;
}

void print_ratios(const std::vector<cost>& costs) {
  const auto print = [](const std::string& what, double ratio) {
    std::puts(fmt::format("{:50} {:6.2f}", what, ratio).c_str());
  };
  constexpr std::size_t in_thought = 1;
  constexpr std::size_t after_tool = 3;
  for (const char* edition : {"fast", "strict"}) {
    std::puts("");
    for (const char* names : {"5", "2000"}) {
      const cost& measured = find(costs, names, edition);
      print(fmt::format("{} names: reference / {}, in the thought", names, edition),
            find(costs, names, "reference").position_ms[in_thought] /
                measured.position_ms[in_thought]);
      print(fmt::format("{} names: {} / anything, whole tick", names, edition),
            measured.sum_ms / find(costs, names, "anything").sum_ms);
      print(fmt::format("{} names: {} / fast, whole tick", names, edition),
            measured.sum_ms / find(costs, names, "fast").sum_ms);
    }
    for (const char* names : {"2000", "2000 mcp_"}) {
      print(fmt::format("{}: {} names / 5 names, after <tool>", edition, names),
            find(costs, names, edition).position_ms[after_tool] /
                find(costs, "5", edition).position_ms[after_tool]);
    }
  }
  std::puts(fmt::format("\nfirst letters of the names: {} of 5, {} of 2000, {} of 2000 mcp_",
                        first_letters(registry_of(5)), first_letters(registry_of(2000)),
                        first_letters(prefixed(registry_of(2000))))
                .c_str());
}

void write_csv(const std::string& file, const std::vector<cost>& costs) {
  std::ofstream out(file);
  const auto write = [&out](const strings& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out << (i == 0 ? "" : ",") << cells[i];
    }
    out << '\n';
  };
  write(columns());
  for (const cost& c : costs) {
    write(row(c));
  }
}

// Masks of one registry as bars, in multiples of what `anything` costs at the same place.
void write_svg(const std::string& file, const std::vector<cost>& costs, const std::string& names) {
  std::vector<const cost*> shown;
  for (const cost& c : costs) {
    if (c.names == names) {
      shown.push_back(&c);
    }
  }
  const cost& anything = *shown.back();
  const std::vector<const char*> colours = {"#c0504d", "#4f81bd", "#9bbb59", "#7f7f7f"};
  constexpr int bar = 13;
  constexpr int group = 4 * bar + 14;
  constexpr int left = 120;
  double widest = 1;
  for (const cost* c : shown) {
    for (std::size_t p = 0; p < c->position_ms.size(); ++p) {
      widest = std::max(widest, c->position_ms[p] / anything.position_ms[p]);
    }
  }
  const double scale = 480 / widest;
  const int height = 50 + group * static_cast<int>(anything.position_ms.size());
  std::ofstream out(file);
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"18\">One full-vocabulary mask, {} names, in multiples of a grammar that "
      "allows anything</text>\n",
      height, names);
  for (std::size_t g = 0; g < shown.size(); ++g) {
    out << fmt::format(
        "<rect x=\"{0}\" y=\"27\" width=\"10\" height=\"10\" fill=\"{1}\"/>"
        "<text x=\"{2}\" y=\"36\">{3}</text>\n",
        left + 110 * g, colours[g], left + 14 + 110 * g, shown[g]->grammar);
  }
  std::size_t position = 0;
  for (const piece& p : tick) {
    if (p.position == nullptr) {
      continue;
    }
    const std::size_t top = 50 + group * position;
    std::string label = p.position;
    for (const auto& [plain, escaped] : {std::pair{"<", "&lt;"}, std::pair{">", "&gt;"}}) {
      const std::size_t at = label.find(plain);
      if (at != std::string::npos) {
        label.replace(at, 1, escaped);
      }
    }
    out << fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 8,
                       top + 2 * bar + 4, label);
    for (std::size_t g = 0; g < shown.size(); ++g) {
      const double ratio = shown[g]->position_ms[position] / anything.position_ms[position];
      out << fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>"
          "<text x=\"{:.1f}\" y=\"{}\" font-size=\"10\">{:.2f}</text>\n",
          left, top + g * bar, ratio * scale, bar - 2, colours[g], left + ratio * scale + 4,
          top + g * bar + 10, ratio);
    }
    ++position;
  }
  out << "</svg>\n";
}

}  // namespace

int main(int argc, char** argv) {
  const strings arguments(argv + 1, argv + argc);
  const engine::vocabulary vocab("qwen2");
  std::puts(fmt::format("llama.cpp {}, vocabulary qwen2 ({} tokens), masks in ms, minimum of {}\n",
                        TICK_GRAMMAR_LLAMA_VERSION, vocab.size(), repeats)
                .c_str());
  std::vector<cost> costs;
  const auto add = [&](const std::string& label, const strings& names) {
    for (cost& c : measure(vocab, label, names)) {
      costs.push_back(std::move(c));
    }
  };
  for (const std::size_t size : {5U, 46U, 117U, 365U, 2000U}) {
    add(fmt::format("{}", size), registry_of(size));
  }
  add("2000 mcp_", prefixed(registry_of(2000)));
  print_table(costs);
  print_ratios(costs);
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--csv") {
      write_csv(arguments[i + 1], costs);
    } else if (arguments[i] == "--svg") {
      write_svg(arguments[i + 1], costs, "117");
    } else {
      std::fputs("usage: cost_benchmark [--csv FILE] [--svg FILE]\n", stderr);
      return 2;
    }
  }
}
