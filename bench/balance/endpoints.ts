/** The endpoints of suite `balance`: addresses of this machine, all with port `PORTS.endpoints`. */
export const ENDPOINTS = 50
/** Numbers from 1. */
export const SLOW = 1
export const FAILING = 2

/** Times of endpoints to their response. */
export const USUAL_MS = 2
export const SLOW_MS = 10 * USUAL_MS

export function addressOf(endpoint: number): string {
  return `127.0.1.${endpoint}`
}

/** This address reports the number of requests of each endpoint, as a JSON array. */
export const COUNTS_ADDRESS = addressOf(250)
