import { writeFileSync } from 'node:fs'
import { type AdminAnswer, askAdmin } from './ask-admin.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { UsageError } from './usage-error.ts'

export interface ProfileFlags {
  /** URL of the admin server; the default is that of the environment. */
  readonly admin?: string | undefined
  readonly worker?: string
  readonly seconds: string
  readonly out?: string
}

/** How much longer than the profile the gateway may take. */
const MARGIN_MS = 15_000

/** Records a profile of one worker of a running gateway, and writes it to a file. */
export async function profile(kind: string, { admin, worker, seconds, out }: ProfileFlags): Promise<ExitCode> {
  if (kind !== 'cpu' && kind !== 'heap') throw new UsageError(`unknown profile type \`${kind}\`; use cpu or heap`)
  if (!/^\d{1,3}$/.test(seconds)) throw new UsageError(`--seconds ${seconds} must be a number from 1 to 60`)
  const timeoutMs = 1000 * Number(seconds) + MARGIN_MS
  const answer = await askAdmin(admin, `/profile/${kind}`, { parameters: { worker, seconds }, timeoutMs })
  if ('exitCode' in answer) return answer.exitCode
  const file = out ?? fileName(answer) ?? `worker.${kind}profile`
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
