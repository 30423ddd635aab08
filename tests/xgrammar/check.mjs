// node check.mjs SAMPLES XGRAMMAR: whether XGrammar judges each sample that the program SAMPLES
// prints as its verdict says. XGRAMMAR is the file that get_xgrammar.sh makes.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [samplesProgram, xgrammarFile] = process.argv.slice(2);
const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } =
  createRequire(import.meta.url)(resolve(xgrammarFile));

// A token for every byte, and one to end with, so that a text can be fed byte by byte.
const end = 256;
const bytes = Array.from({ length: end }, (_, i) => `<0x${i.toString(16).padStart(2, '0').toUpperCase()}>`);
const compiler = await GrammarCompiler.createGrammarCompiler(
  await TokenizerInfo.createTokenizerInfo([...bytes, '</s>'], 'byte_fallback', false, end + 1, end));

async function allows(matcher, token) {
  const mask = await matcher.getNextTokenBitmask();
  return ((mask[token >> 5] >> (token & 31)) & 1) === 1;
}

async function judge(matcher, text) {
  matcher.reset();
  for (const byte of Buffer.from(text)) {
    const allowed = await allows(matcher, byte);
    if (matcher.acceptToken(byte) !== allowed) {
      return 'both masked and taken';
    }
    if (!allowed) {
      return 'refused';
    }
  }
  return await allows(matcher, end) ? 'accepted' : 'open';
}

// XGrammar 0.1.27 cuts the members of a class down to a byte, and a negated class of it takes
// whatever lies beyond ASCII. So no class can leave out just these three, and thoughts may hold them.
// Mended in mlc-ai/xgrammar, pull requests 491 and 909, of which npm has no release yet.
function expected({ edition, require_reply }, { text, verdict }) {
  if (edition === 'strict' && verdict === 'refused' && /^[^<]*[\u0085\u2028\u2029]/.test(text)) {
    return require_reply ? 'open' : 'accepted';
  }
  return verdict;
}

let passed = 0;
let failed = 0;
let excepted = 0;
const json = execFileSync(samplesProgram, { encoding: 'utf8', maxBuffer: 1 << 26 });
for (const grammar of JSON.parse(json)) {
  const compiled = await compiler.compileGrammar(await Grammar.fromEBNF(grammar.grammar));
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled);
  for (const sample of grammar.samples) {
    const wanted = expected(grammar, sample);
    const verdict = await judge(matcher, sample.text);
    excepted += wanted === sample.verdict ? 0 : 1;
    if (verdict === wanted) {
      ++passed;
      continue;
    }
    ++failed;
    console.log(`${grammar.edition}${grammar.require_reply ? ', require_reply' : ''}: ${sample.why}:`
      + ` ${verdict}, not ${wanted}: ${JSON.stringify(sample.text)}`);
  }
  matcher.dispose();
  compiled.dispose();
}
console.log(`${excepted} judged by XGrammar's own lights, see expected()`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
