// The README shows nothing that is not compiled: every C++ sample is a piece of an example, and
// every output block is what a test compares an example's output with.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path root = TICK_GRAMMAR_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The fenced blocks of README.md in the given language.
std::vector<std::string> blocks(const std::string& language) {
  std::istringstream in(text_of(root / "README.md"));
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + '\n';
    } else if (line == "```" + language) {
      inside = true;
      found.emplace_back();
    }
  }
  return found;
}

// Without indentation, so that a sample may show the middle of a function.
std::string dedented(const std::string& text) {
  std::istringstream in(text);
  std::string all = "\n";
  for (std::string line; std::getline(in, line);) {
    all += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + '\n';
  }
  return all;
}

bool is_part_of_a_file(const std::string& block, const fs::path& folder,
                       const std::string& ending) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ending &&
        dedented(text_of(entry.path())).find(dedented(block)) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("every C++ sample of the README is part of an example") {
  const std::vector<std::string> samples = blocks("cpp");
  CHECK(samples.size() >= 2);
  for (const std::string& sample : samples) {
    INFO(sample);
    CHECK(is_part_of_a_file(sample, root / "examples", ".cpp"));
  }
}

TEST_CASE("every output block of the README is an output that a test compares with") {
  const std::vector<std::string> outputs = blocks("text");
  CHECK(!outputs.empty());
  for (const std::string& output : outputs) {
    INFO(output);
    CHECK(is_part_of_a_file(output, root / "tests", ".txt"));
  }
}

TEST_CASE("the README's CMake sample is the one that a consumer test configures") {
  const std::vector<std::string> samples = blocks("cmake");
  CHECK(!samples.empty());
  for (const std::string& sample : samples) {
    INFO(sample);
    CHECK(is_part_of_a_file(sample, root / "tests" / "consumers", ".cmake"));
  }
}

TEST_CASE("every file that the README names is there, and nothing is left to fill in") {
  const std::string readme = text_of(root / "README.md");
  CHECK(readme.find("@") == std::string::npos);
  int found = 0;
  for (const char* folder : {"`.ci/", "`tests/", "`examples/", "`include/"}) {
    for (std::size_t at = 0; (at = readme.find(folder, at)) != std::string::npos; ++found) {
      ++at;
      const std::string path = readme.substr(at, readme.find_first_of("` ", at) - at);
      INFO(path);
      CHECK(fs::exists(root / path));
    }
  }
  CHECK(found > 10);
}
