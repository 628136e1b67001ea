import { fileURLToPath } from 'node:url'

/** The proxy has its own core; load generator and servers share the other one. */
export const PROXY_CORE = 0
export const LOAD_CORE = 1

/** The configuration files in `servers/` and `objects/` contain the same ports. */
export const PORTS = {
  nginx: { bare: 18001, full: 18001, traced: 18001, lost: 18001, h2: 18011, tls: 18021 },
  haproxy: { bare: 18002, full: 18002, traced: 18002, lost: 18002, h2: 18012, tls: 18022 },
  // The gateway detects HTTP/2.
  gatewright: { bare: 18003, full: 18004, traced: 18005, lost: 18006, h2: 18003, tls: 18023 },
  peer: 18009,
  files: 19001,
  events: 19003,
  authorization: 19004,
  limits: 19005,
  collector: 19006,
  endpoints: 19100,
} as const

/** The listener of a suite: pass-through, all policies, traced, traced without a server for the spans, HTTP/2 without TLS, TLS. */
export type Door = keyof typeof PORTS.nginx

/** Where a candidate listens. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Absolute path of a project file. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
