const MAX_PAGES = 10

/** The fields of a page that a user fills in, by name. */
type Fields = Readonly<Record<string, string>>

/**
 * Signs a user in on the pages of an identity provider, as a browser does: it follows redirects, keeps cookies and sends forms.
 * @param redirectUri where the provider sends the browser at the end
 * @returns the query of that address
 */
export async function signInOnPages(start: URL, redirectUri: string, user: Fields): Promise<URLSearchParams> {
  const cookies = new Map<string, string>()
  let url = start
  let form: URLSearchParams | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = form === undefined ? {} : { method: 'POST', body: form }
    const response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...sent })
    for (const text of response.headers.getSetCookie()) {
      const [pair = ''] = text.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = response.headers.get('location')
    if (location !== null) {
      if (location.startsWith(redirectUri)) return new URL(location).searchParams
      url = new URL(location, url)
      form = undefined
      continue
    }
    const html = await response.text()
    const action = attributeIn(/<form\b[^>]*>/.exec(html)?.[0] ?? '', 'action')
    if (action === undefined) throw new Error(`${url.href} has no form: ${html.slice(0, 500)}`)
    url = new URL(action, url)
    form = new URLSearchParams(filled(html, user))
  }
  throw new Error(`the sign-in did not end after ${MAX_PAGES} pages`)
}

/** All inputs with their values: those of the user where they have the same name. A page without them asks for consent. */
function filled(html: string, user: Fields): Record<string, string> {
  const inputs = (html.match(/<(?:input|button)\b[^>]*>/g) ?? []).flatMap((tag) => {
    const name = attributeIn(tag, 'name')
    return name === undefined || name === 'cancel' ? [] : [[name, user[name] ?? attributeIn(tag, 'value') ?? '']]
  })
  return Object.fromEntries(inputs)
}

function attributeIn(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]
  return value?.replaceAll('&amp;', '&').replaceAll('&#38;', '&')
}
