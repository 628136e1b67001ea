/** How a command ended. */
export const EXIT = {
  ok: 0,
  /** Something was found (lint), or the gateway could not do its work. */
  findings: 1,
  /** The command line is wrong. */
  usage: 2,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
