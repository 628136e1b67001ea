import { writeFileSync } from 'node:fs'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { type AdminAnswer, askAdmin } from './reach/ask-admin.ts'
import { type ReachFlags, reach } from './reach/reach.ts'
import { UsageError } from './usage-error.ts'

export interface ProfileFlags extends ReachFlags {
  readonly worker?: string
  readonly seconds: string
  readonly out?: string
}

/** How much longer than the profile the gateway may take. */
const MARGIN_MS = 15_000

/** Records a profile of one worker of a running gateway, and writes it to a file. */
export async function profile(
  kind: string,
  gateway: string | undefined,
  { worker, seconds, out, ...flags }: ProfileFlags,
): Promise<ExitCode> {
  if (kind !== 'cpu' && kind !== 'heap') throw new UsageError(`unknown profile type \`${kind}\`; use cpu or heap`)
  if (!/^\d{1,3}$/.test(seconds)) throw new UsageError(`--seconds ${seconds} must be a number from 1 to 60`)
  const timeoutMs = 1000 * Number(seconds) + MARGIN_MS
  using reached = await reach(gateway, flags)
  const answer = await askAdmin(await reached.server(), `/profile/${kind}`, {
    parameters: { worker, seconds },
    timeoutMs,
  })
  if ('exitCode' in answer) return answer.exitCode
  const { pod } = answer.server
  const file = out ?? `${pod === undefined ? '' : `${pod}-`}${fileName(answer) ?? `worker.${kind}profile`}`
  try {
    writeFileSync(file, answer.text)
  } catch (error) {
    complain(`${file} cannot be written: ${(error as Error).message}`)
    return EXIT.findings
  }
  print(
    `${file}: open it in the developer tools of Chrome (${kind === 'cpu' ? 'Performance' : 'Memory'}, Load profile), or in VS Code`,
  )
  return EXIT.ok
}

/** As the gateway proposes; nothing that could be a path. */
function fileName({ headers }: AdminAnswer): string | undefined {
  return /filename="(w\d+\.(?:cpu|heap)profile)"/.exec(headers.get('content-disposition') ?? '')?.[1]
}
