/** What the identity provider of a test has received: method and target of each request. */
interface Seen {
  readonly port: number
  readonly requests: readonly string[]
}

/**
 * A user with a browser who signs in wherever a program asks for it: follows the first authorization request that the provider sees. The
 * program tries its address itself before it prints it.
 */
export function openBrowser({ port, requests }: Seen): Disposable {
  let isOpen = true
  const timer = setInterval(() => {
    const first = requests.find((line) => line.includes('/authorize?'))
    if (first === undefined) return
    clearInterval(timer)
    const [, target = ''] = first.split(' ')
    const visit = () => void fetch(`http://127.0.0.1:${port}${target}`).catch(() => {})
    setTimeout(() => isOpen && visit(), 100)
  }, 10)
  return {
    [Symbol.dispose]() {
      isOpen = false
      clearInterval(timer)
    },
  }
}
