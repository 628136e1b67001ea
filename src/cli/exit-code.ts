/** Exit codes of commands. */
export const EXIT = {
  ok: 0,
  /** Findings that `lint` fails on, or the gateway could not run. */
  findings: 1,
  /** The command line is wrong. */
  usage: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
