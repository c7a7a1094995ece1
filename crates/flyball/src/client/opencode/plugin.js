// flyball's ears in opencode: asks `flyball hook opencode EVENT` before and after each call and at
// each stop. A hook that cannot be asked changes nothing.
import { spawn, spawnSync } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const FLAGS = "@FLAGS@"
const STOPS = @STOPS@

const ask = (event, input, seconds) =>
  new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode", event, ...FLAGS], { stdio: ["pipe", "pipe", "ignore"] })
    let out = ""
    const timer = setTimeout(() => child.kill(), seconds * 1000)
    child.on("error", () => resolve({}))
    child.stdout.on("data", (piece) => (out += piece))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(out || "{}"))
      } catch {
        resolve({})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })

// Nobody waits for what is done at the end of a step: without a person in front of it, opencode ends
// unless it is told to go on before it gets to its next line. So this one holds everything up.
const HEADLESS = process.env.FLYBALL_RUN !== undefined || process.argv.includes("run")

const askAtOnce = (event, input, seconds) => {
  const options = { input: JSON.stringify(input), timeout: seconds * 1000, stdio: ["pipe", "pipe", "ignore"] }
  const done = spawnSync(PROGRAM, ["hook", "opencode", event, ...FLAGS], options)
  try {
    return JSON.parse(done.stdout?.toString() || "{}")
  } catch {
    return {}
  }
}

export const Flyball = async ({ client }) => {
  let stops = 0
  let said = ""
  return {
    "tool.execute.before": async (call, output) => {
      const input = { session_id: call.sessionID, tool_use_id: call.callID, tool_name: call.tool, tool_input: output.args }
      const answer = await ask("PreToolUse", input, @CALL_SECONDS@)
      if (answer.decision === "block") throw new Error(answer.reason)
    },
    "tool.execute.after": async (call, output) => {
      const input = { session_id: call.sessionID, tool_use_id: call.callID, tool_name: call.tool, tool_response: output.output }
      const answer = await ask("PostToolUse", input, @CALL_SECONDS@)
      if (answer.decision === "block") output.output = answer.reason
      const context = answer.hookSpecificOutput?.additionalContext
      if (context) output.output += "\n" + context
    },
    event: async ({ event }) => {
      const part = event.properties?.part
      if (event.type === "message.part.updated" && part?.type === "text") said = part.text
      const stopped = HEADLESS
        ? event.type === "message.part.updated" && part?.type === "step-finish" && part.reason === "stop"
        : event.type === "session.idle"
      if (!stopped || stops >= STOPS) return
      const id = HEADLESS ? part.sessionID : event.properties.sessionID
      const input = { session_id: id, last_assistant_message: said, stop_hook_active: stops > 0 }
      const answer = HEADLESS ? askAtOnce("Stop", input, @STOP_SECONDS@) : await ask("Stop", input, @STOP_SECONDS@)
      if (answer.decision !== "block") return
      stops += 1
      const body = { noReply: HEADLESS, parts: [{ type: "text", text: answer.reason }] }
      await client.session.prompt({ path: { id }, body })
    },
  }
}
