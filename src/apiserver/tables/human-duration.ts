const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** A duration as `kubectl get` prints ages: about two significant units, `47s`, `3m20s`, `5h`, `12d`, `2y40d`. */
export function humanDuration(ms: number): string {
  if (ms < -2 * SECOND) return '<invalid>'
  if (ms < 2 * MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))}s`
  if (ms < 10 * MINUTE) return inUnits(ms, MINUTE, 'm', SECOND, 's')
  if (ms < 3 * HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < 8 * HOUR) return inUnits(ms, HOUR, 'h', MINUTE, 'm')
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}h`
  if (ms < 8 * DAY) return inUnits(ms, DAY, 'd', HOUR, 'h')
  if (ms < 2 * YEAR) return `${Math.floor(ms / DAY)}d`
  if (ms < 8 * YEAR) return inUnits(ms, YEAR, 'y', DAY, 'd')
  return `${Math.floor(ms / YEAR)}y`
}

function inUnits(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small)
  return `${Math.floor(ms / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`
}
