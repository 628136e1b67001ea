import { fileURLToPath } from 'node:url'

/** The proxy has a core for itself; what loads it and what answers it share the other one. */
export const PROXY_CORE = 0
export const LOAD_CORE = 1

/** The ports stand in the configuration files of `servers/` and `objects/` as well. */
export const PORTS = {
  nginx: 18001,
  haproxy: 18002,
  gatewrightBare: 18003,
  gatewrightFull: 18004,
  files: 19001,
  events: 19003,
} as const

/** Path of a file of the project. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
