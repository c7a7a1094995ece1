// flyball's ears in pi: asks `flyball hook pi EVENT` before and after each call and at each stop.
// A hook that cannot be asked changes nothing.
import { spawn, spawnSync } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const FLAGS = "@FLAGS@"
const STOPS = @STOPS@

const ask = (event: string, input: unknown, seconds: number): Promise<any> =>
  new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "pi", event, ...FLAGS], { stdio: ["pipe", "pipe", "ignore"] })
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

// pi does not wait for what is done at the end of a turn: without a person in front of it, only what
// is said before the handler gives way is heard. So this one holds everything up.
const HEADLESS = process.env.FLYBALL_RUN !== undefined || ["-p", "--print", "--mode"].some((flag) => process.argv.includes(flag))

const askAtOnce = (event: string, input: unknown, seconds: number): any => {
  const options = { input: JSON.stringify(input), timeout: seconds * 1000, stdio: ["pipe", "pipe", "ignore"] as any }
  const done = spawnSync(PROGRAM, ["hook", "pi", event, ...FLAGS], options)
  try {
    return JSON.parse(done.stdout?.toString() || "{}")
  } catch {
    return {}
  }
}

const textOf = (content: any[]): string =>
  (content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")

export default function (pi: any) {
  let stops = 0
  pi.on("tool_call", async (event: any) => {
    const input = { tool_use_id: event.toolCallId, tool_name: event.toolName, tool_input: event.input }
    const answer = await ask("PreToolUse", input, @CALL_SECONDS@)
    if (answer.decision === "block") return { block: true, reason: answer.reason }
  })
  pi.on("tool_result", async (event: any) => {
    const input = { tool_use_id: event.toolCallId, tool_name: event.toolName, tool_response: textOf(event.content), is_error: event.isError }
    const answer = await ask("PostToolUse", input, @CALL_SECONDS@)
    if (answer.decision === "block") return { content: [{ type: "text", text: answer.reason }] }
    const context = answer.hookSpecificOutput?.additionalContext
    if (context) return { content: [...event.content, { type: "text", text: context }] }
  })
  const goOn = (answer: any) => {
    if (answer.decision !== "block") return
    stops += 1
    pi.sendUserMessage(answer.reason, { deliverAs: "followUp" })
  }
  pi.on("turn_end", (event: any) => {
    // A turn that failed is no stop: pi tries again by itself.
    const failed = ["error", "aborted"].includes(event.message?.stopReason)
    if (failed || (event.toolResults ?? []).length > 0 || stops >= STOPS) return
    const input = { last_assistant_message: textOf(event.message?.content), stop_hook_active: stops > 0 }
    if (HEADLESS) return goOn(askAtOnce("Stop", input, @STOP_SECONDS@))
    ask("Stop", input, @STOP_SECONDS@).then(goOn)
  })
}
