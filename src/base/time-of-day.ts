/** `14:03:22`, in the time zone of the process. @param epochMs milliseconds since the epoch */
export function timeOfDay(epochMs: number): string {
  const time = new Date(epochMs)
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => `${part}`.padStart(2, '0')).join(':')
}
