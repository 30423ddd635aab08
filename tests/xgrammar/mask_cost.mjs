// node mask_cost.mjs SAMPLES XGRAMMAR VOCABULARY.gguf: what one mask costs XGrammar under each
// edition that the program SAMPLES prints, over one tick. By hand, not a test.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [samplesProgram, xgrammarFile, vocabularyFile] = process.argv.slice(2);
const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } =
  createRequire(import.meta.url)(resolve(xgrammarFile));

// The pieces of tests/llama/cost_benchmark.cpp.
const tick = [
  ['start', 'The'],
  ['thought', ' user wants the disk usage of the home folder.\n'],
  ['reply', '<reply>Let me have a look at it, one moment please.</reply>\n'],
  ['call', '<tool>bash</tool> <args>{"cmd": "du -sh /home/*", "timeout": 30, "tags": ["disk", true]}</args>'],
];

// The tokens in a GGUF file: an array of strings among its key-value pairs.
function tokensOf(file) {
  const data = readFileSync(file);
  const key = Buffer.from('tokenizer.ggml.tokens');
  let at = data.indexOf(key) + key.length + 8; // behind it stand two types, of 4 bytes each
  const count = Number(data.readBigUInt64LE(at));
  at += 8;
  return Array.from({ length: count }, () => {
    const start = at + 8;
    at = start + Number(data.readBigUInt64LE(at));
    return data.toString('utf8', start, at);
  });
}

const tokens = tokensOf(vocabularyFile);
const ids = new Map(tokens.map((token, id) => [token, id]));

// Longest match, which is near enough to what a tokenizer gives. The text is ASCII, of which byte
// level vocabularies move only blank and newline.
function* tokenize(text) {
  let rest = text.replaceAll(' ', '\u0120').replaceAll('\n', '\u010a');
  while (rest !== '') {
    let length = rest.length;
    while (!ids.has(rest.slice(0, length))) {
      --length;
    }
    yield ids.get(rest.slice(0, length));
    rest = rest.slice(length);
  }
}

const eos = ids.get('<|endoftext|>') ?? ids.get('<|end_of_text|>');
const info = await TokenizerInfo.createTokenizerInfo(tokens, 'byte_level', false, tokens.length, eos);
const json = execFileSync(samplesProgram, { encoding: 'utf8', maxBuffer: 1 << 26 });
console.log(`${tokens.length} tokens; compilation in ms, masks in us: mean / maximum`);
for (const { edition, require_reply, grammar } of JSON.parse(json)) {
  if (require_reply) {
    continue;
  }
  const start = performance.now();
  const compiler = await GrammarCompiler.createGrammarCompiler(info, false);
  const compiled = await compiler.compileGrammar(await Grammar.fromEBNF(grammar));
  let row = `${edition.padEnd(12)} compiled ${(performance.now() - start).toFixed(0).padStart(6)}`;
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
  for (const [part, text] of tick) {
    const costs = [];
    for (const token of tokenize(text)) {
      let best = Infinity;
      for (let i = 0; i < 10; ++i) {
        const before = performance.now();
        await matcher.getNextTokenBitmask();
        best = Math.min(best, performance.now() - before);
      }
      costs.push(best * 1000);
      if (!matcher.acceptToken(token)) {
        throw new Error(`${edition} refuses ${tokens[token]}`);
      }
    }
    const mean = costs.reduce((a, b) => a + b) / costs.length;
    row += `   ${part} ${mean.toFixed(0).padStart(5)} / ${Math.max(...costs).toFixed(0).padStart(6)}`;
  }
  console.log(row);
}
