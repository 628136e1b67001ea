const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#222}
h1{font-size:1.4rem}label{display:block;margin:.8rem 0 .2rem}input{font:inherit;padding:.4rem;width:100%;box-sizing:border-box}
button{font:inherit;margin-top:1rem;padding:.5rem 1.5rem}.problem{color:#b00020}pre{background:#f4f4f4;padding:.8rem;overflow-wrap:anywhere;white-space:pre-wrap}
footer{margin-top:3rem;color:#666;font-size:.85rem}`

/** Text as HTML, also in attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1>${body}<footer>The identity provider of Gatewright, for development and tests. Not for production.</footer></body></html>`
}

/** @param action where the form is sent @param problem why the last attempt failed */
export function loginPage(realm: string, client: string, action: string, problem?: string): string {
  const told = problem === undefined ? '' : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`
  return page(
    `Sign in to ${realm}`,
    `<p>${escapeHtml(client)} asks you to sign in.</p>${told}<form method="post" action="${escapeHtml(action)}">
<label for="username">User name</label><input id="username" name="username" autocomplete="username" autofocus required>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button></form>`,
  )
}

/** @param claims of the token */
export function tokenPage(username: string, token: string, claims: object, logout: string): string {
  return page(
    `Signed in as ${username}`,
    `<p>A gateway that trusts this realm accepts this token for five minutes:</p>
<pre>curl -H 'Authorization: Bearer ${escapeHtml(token)}' http://localhost:8080/</pre>
<p>Its claims:</p><pre>${escapeHtml(JSON.stringify(claims, null, 2))}</pre>${logoutForm(logout, [])}`,
  )
}

/** Asks whether the user wants to sign out. @param fields names and values of the request, which the form repeats */
export function logoutPage(realm: string, action: string, fields: readonly (readonly [string, string])[]): string {
  return page(`Sign out of ${realm}`, `<p>Do you want to sign out?</p>${logoutForm(action, fields)}`)
}

function logoutForm(action: string, fields: readonly (readonly [string, string])[]): string {
  const inputs = fields.map(([name, value]) => {
    return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`
  })
  return `<form method="post" action="${escapeHtml(action)}">${inputs.join('')}<button type="submit">Sign out</button></form>`
}

export function messagePage(title: string, text: string): string {
  return page(title, `<p>${escapeHtml(text)}</p>`)
}
