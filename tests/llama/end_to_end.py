#!/usr/bin/env python3
"""Let a model of pure noise drive examples/agent_loop through a real llama-server.

Noise keeps a contract only if something makes it, so every tick that does is the grammar's doing.
Also plays the servers that a user may run into: none at all, one that refuses the grammar, and one
that ignores it.
"""

import argparse
import contextlib
import http.server
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HOT_TOOL = "list_files"
HOT_LOAD_AFTER = 3

# Enough for most outputs without a reply, too few for most that need one: both ends occur.
MAX_TOKENS = 250


class Failure(Exception):
    """Something that must hold does not."""


def check(holds, message):
    if not holds:
        raise Failure(message)


# ---- Servers -------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(url, server, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        check(server.poll() is None, "llama-server ended with code %s" % server.returncode)
        with contextlib.suppress(OSError):  # not listening yet, or still loading
            with urllib.request.urlopen(url + "/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        time.sleep(0.1)
    raise Failure("llama-server is not healthy after %d s" % seconds)


@contextlib.contextmanager
def llama_server(command, model, log_path):
    """A real server; gives its URL. One thread: two on a busy machine wait for each other."""
    port = free_port()
    arguments = ["-m", str(model), "--host", "127.0.0.1", "--port", str(port)]
    arguments += ["-c", "4096", "-np", "1", "-t", "1"]
    with open(log_path, "wb") as log:
        server = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        url = "http://127.0.0.1:%d" % port
        wait_until_healthy(url, server)
        yield url
    finally:
        if server.poll() is not None:
            sys.stderr.write(pathlib.Path(log_path).read_text(errors="replace")[-2000:])
        server.kill()
        server.wait()


@contextlib.contextmanager
def fake_server(status, body):
    """A server with one answer to everything; gives its URL and the list of requests it got."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()
            with contextlib.suppress(OSError):  # the agent may hang up
                self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "http://127.0.0.1:%d" % server.server_address[1], requests
    finally:
        server.shutdown()
        server.server_close()


def events(pieces, finish_reason):
    """The body of a streamed answer."""
    choices = [{"delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    if finish_reason is not None:
        choices.append({"delta": {}, "finish_reason": finish_reason})
    lines = ["data: %s\n\n" % json.dumps({"choices": [choice]}) for choice in choices]
    return "".join(lines) + "data: [DONE]\n\n"


# ---- The agent -----------------------------------------------------------------------------------


class Agent:
    """Runs agent_loop in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def run(self, url, *arguments, typed=""):
        """The finished process, and its transcript."""
        transcript = self.folder / "transcript.jsonl"
        command = [self.program, "--url", url, "--dir", str(self.folder)]
        command += ["--transcript", str(transcript), *arguments]
        done = subprocess.run(
            command, input=typed.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120
        )
        with open(transcript, encoding="utf-8") as lines:
            return done, [json.loads(line) for line in lines]


def check_stopped(done, ticks, code, message, recorded):
    error = done.stderr.decode(errors="replace")
    check(done.returncode == code, "exit code %s instead of %s:\n%s" % (done.returncode, code, error))
    check(message in error, "no %r on standard error, but:\n%s" % (message, error))
    check(len(ticks) == recorded, "%d ticks recorded instead of %d" % (len(ticks), recorded))


# ---- Noise against the real server ---------------------------------------------------------------


def expected_status(tick):
    """What a reader of `output` has to say, told by other means than reading it."""
    if tick["finish_reason"] == "stop":
        return "complete"
    # A cut text may happen to be whole as it stands: a thought, or what ends with a closing tag.
    whole = re.fullmatch(r"[^<]+|.*</(reply|args)>[ \t\n]*", tick["output"], re.DOTALL)
    return "complete" if whole else "partial"


def check_tick(tick):
    check(tick["finish_reason"] in ("stop", "length"), "odd finish reason")
    check(tick["status"] == expected_status(tick), "should read %s" % expected_status(tick))
    check((HOT_TOOL in tick["tools"]) == (tick["tick"] > HOT_LOAD_AFTER), "registered at another time")
    ends_with_call = tick["output"].rstrip(" \t\n").endswith("</args>")
    check(ends_with_call == (tick["call"] is not None), "a call was overlooked or made up")
    check(tick["call"] is None or tick["call"] in tick["tools"], "a tool that is not registered")
    if tick["finish_reason"] == "length":
        check(tick["result"].startswith("error: cut"), "something was done by halves")
        return
    check((tick["result"] is None) == (tick["call"] is None), "a result without a call, or none")
    check("</reply>" in tick["output"] or not tick["require_reply"], "no reply")


def babble(agent, url, edition, require_reply, count):
    """Runs `count` ticks, checks each, and returns them."""
    arguments = ["--edition", edition, "--ticks", str(count), "--max-tokens", str(MAX_TOKENS)]
    arguments += ["--history", "0"]  # the time that `now` gave would change every later output
    arguments += ["--hot-load-after", str(HOT_LOAD_AFTER)] + ["--require-reply"] * require_reply
    done, ticks = agent.run(url, *arguments)
    check_stopped(done, ticks, 0, "", count)
    for tick in ticks:
        check(tick["edition"] == edition, "another edition")
        check(tick["require_reply"] == require_reply, "another require_reply")
        try:
            check_tick(tick)
        except Failure as failure:
            raise Failure("%s: %s" % (failure, json.dumps(tick))) from None
    return ticks


def check_noise(agent, url, editions, count):
    columns = "%-10s %-14s %6s %6s %6s %6s %14s"
    print(columns % ("edition", "require_reply", "ticks", "ended", "cut", "calls", "to " + HOT_TOOL))
    hot_calls = 0
    for edition in editions:
        # Without a reply most ticks end early, so more of them cost little; and only those call.
        for require_reply, ticks in ((False, 3 * count), (True, count)):
            outcome = babble(agent, url, edition, require_reply, ticks)
            ended = sum(tick["finish_reason"] == "stop" for tick in outcome)
            calls = [tick["call"] for tick in outcome if tick["call"]]
            hot_calls += calls.count(HOT_TOOL)
            row = (edition, require_reply, ticks, ended, ticks - ended, len(calls), calls.count(HOT_TOOL))
            print(columns % row, flush=True)
            check(ended < ticks, "no tick was cut")
            check(ended > 0 or require_reply, "no tick ended by itself")
    check(hot_calls > 0, "%s was never called" % HOT_TOOL)


# ---- What else a user meets ----------------------------------------------------------------------


def call_of(name, args):
    return "<tool>%s</tool> <args>%s</args>" % (name, args)


def check_no_server(agent):
    url = "http://127.0.0.1:%d" % free_port()
    check_stopped(*agent.run(url), 1, "no llama-server answers at " + url, 0)


def check_refused_grammar(agent):
    message = "Failed to initialize samplers: failed to parse grammar"
    body = json.dumps({"error": {"code": 400, "message": message, "type": "invalid_request_error"}})
    with fake_server(400, body) as (url, requests):
        check_stopped(*agent.run(url), 1, message, 0)
        check(len(requests) == 1, "asked again after a refusal")


def check_ignored_grammar(agent):
    pieces = ["Sure! ", "Here it is:\n", "```json\n", "{}", "\n```"]
    for text in (pieces, [call_of("rm", "{}")], ["<reply>never closed"]):
        with fake_server(200, events(text, "stop")) as (url, requests):
            done, ticks = agent.run(url)
            check_stopped(done, ticks, 1, "the server ignores the grammar", 1)
            check(ticks[0]["result"] is None, "something was done off the contract")
            check(len(requests) == 1, "went on off the contract")
    # A line of prose is a legal tick, but not where a reply is required.
    with fake_server(200, events(["Sure, hello there"], "stop")) as (url, _):
        done, ticks = agent.run(url, "--require-reply")
        check_stopped(done, ticks, 1, "the server ignores the grammar", 1)


def check_broken_stream(agent):
    error = 'data: {"error":{"message":"context size exceeded"}}\n\n'
    with fake_server(200, error) as (url, _):
        check_stopped(*agent.run(url), 1, "context size exceeded", 0)
    with fake_server(200, events(["hm"], None)) as (url, _):
        check_stopped(*agent.run(url), 1, "the server stopped in the middle", 0)


def check_call(agent, call, finish_reason, result):
    """What a call leads to, and that the next tick's prompt tells of it."""
    with fake_server(200, events(list(call), finish_reason)) as (url, requests):
        done, ticks = agent.run(url, "--ticks", "2")
        check_stopped(done, ticks, 0, "", 2)
        check(ticks[0]["result"] == result, "%s gave %r" % (call, ticks[0]["result"]))
        check(result in requests[1]["messages"][-1]["content"], "the next prompt lacks " + result)


def check_calls(agent):
    outside = agent.folder.parent / "outside.txt"
    outside.write_text("secret")
    (agent.folder / "inside.txt").write_text("public")
    (agent.folder / "link.txt").symlink_to(outside)
    absent = "error: no such file"
    for call, result in (
        (call_of("add", '{"a": 1, "b": 2.5}'), "3.5"),
        (call_of("add", '{"a": 1}'), "error: argument b must be a number"),
        (call_of("add", '{"a": 1, "b": "2"}'), "error: argument b must be a number"),
        (call_of("now", '{"</args>": 1}'), "error: there is no argument </args>"),
        (call_of("read_file", '{"path": "inside.txt"}'), "public"),
        (call_of("read_file", '{"path": "link.txt"}'), absent),
        (call_of("read_file", '{"path": "../outside.txt"}'), absent),
        (call_of("read_file", json.dumps({"path": str(outside)})), absent),
    ):
        check_call(agent, call, "stop", result)
    check_call(agent, call_of("now", "{}"), "length", "error: cut by the token limit, so nothing was done")


def check_user_and_hot_loading(agent):
    """A typed line makes the reply mandatory, the reply is said, and a new tool is in the grammar."""
    with fake_server(200, events(list("<reply>Hello. Yes?</reply>"), "stop")) as (url, requests):
        done, ticks = agent.run(url, "--ticks", "2", "--hot-load-after", "1", typed="Anybody there?\n")
    check_stopped(done, ticks, 0, "", 2)
    check(done.stdout == b"Hello. Yes?\n" * 2, "said %r" % done.stdout)
    check([tick["require_reply"] for tick in ticks] == [True, False], "require_reply at another time")
    check("Anybody there?" in requests[0]["messages"][-1]["content"], "the prompt lacks the line")
    check([HOT_TOOL in request["grammar"] for request in requests] == [False, True], "another grammar")


def check_usage(program):
    for arguments in (["--ticks"], ["--ticks", "x"], ["--tick", "1"], ["--edition", "slow"]):
        done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 2 and b"usage: agent_loop" in done.stderr, "took %s" % arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", help="the built examples/agent_loop")
    parser.add_argument("server", help="the script that get_llama_server.sh made: DIR/run")
    parser.add_argument("make_model", help="tests/llama/make_noise_model.py")
    parser.add_argument("editions", nargs="+", metavar="edition")
    parser.add_argument(
        "--ticks", type=int, default=30, help="with a mandatory reply, thrice as many without (default: 30)"
    )
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "files"
        folder.mkdir()
        agent = Agent(arguments.agent, folder)
        model = pathlib.Path(name) / "noise.gguf"
        subprocess.run([sys.executable, arguments.make_model, str(model)], check=True)
        try:
            check_usage(arguments.agent)
            check_no_server(agent)
            check_refused_grammar(agent)
            check_ignored_grammar(agent)
            check_broken_stream(agent)
            check_calls(agent)
            check_user_and_hot_loading(agent)
            with llama_server([arguments.server, "llama-server"], model, model.with_suffix(".log")) as url:
                check_noise(agent, url, arguments.editions, arguments.ticks)
        except Failure as failure:
            print("end_to_end.py: %s" % failure, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
