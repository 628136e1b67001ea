import { fileURLToPath } from 'node:url'

/** The proxy has a core for itself; what loads it and what answers it share the other one. */
export const PROXY_CORE = 0
export const LOAD_CORE = 1

/** The ports stand in the configuration files of `servers/` and `objects/` as well. */
export const PORTS = {
  nginx: { bare: 18001, full: 18001, h2: 18011, tls: 18021 },
  haproxy: { bare: 18002, full: 18002, h2: 18012, tls: 18022 },
  // It tells HTTP/2 from HTTP/1 by itself.
  gatewright: { bare: 18003, full: 18004, h2: 18003, tls: 18023 },
  files: 19001,
  events: 19003,
} as const

/** What a suite knocks at: pass-through, everything on, HTTP/2 in plain text, TLS. */
export type Door = keyof typeof PORTS.nginx

/** Where a candidate listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Path of a file of the project. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
