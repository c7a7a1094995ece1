// flyball's ears in opencode: asks `flyball hook opencode EVENT` before and after each call and at
// each stop. A hook that cannot be asked changes nothing.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const STOPS = @STOPS@

const ask = (event, input, seconds) =>
  new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
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
      if (event.type !== "message.part.updated" || !part) return
      if (part.type === "text") said = part.text
      if (part.type !== "step-finish" || part.reason !== "stop" || stops >= STOPS) return
      const input = { session_id: part.sessionID, last_assistant_message: said, stop_hook_active: stops > 0 }
      const answer = await ask("Stop", input, @STOP_SECONDS@)
      if (answer.decision !== "block") return
      stops += 1
      const body = { noReply: true, parts: [{ type: "text", text: answer.reason }] }
      await client.session.prompt({ path: { id: part.sessionID }, body })
    },
  }
}
