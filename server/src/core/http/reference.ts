import { openApiDocument, type RouteDefinition } from '@swapyard/schema'
import { html, markupOf } from '../../lib/html.ts'
import type { ApiContext } from './mount.ts'
import { createStaticText, type StaticFiles, sendStaticBody } from './static-files.ts'

const folder = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'))
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

/** Without scripts the page lists the operations. */
function renderPage(documented: Readonly<Record<string, RouteDefinition>>): string {
  const operations = Object.values(documented).map(
    ({ method, path, summary }) => html`<li><code>${method} ${path}</code> ${summary}</li>\n`,
  )
  return markupOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference – Swapyard</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/reference.css">
<link rel="icon" type="image/svg+xml" href="/docs/assets/icon.svg">
</head>
<body>
<header><a href="/docs">Guides</a> <a href="/docs/errors">Errors</a> <a href="/openapi.json">OpenAPI document</a> <a href="/docs/postman.json">Postman collection</a></header>
<div id="reference">
<noscript>
<main>
<h1>API reference</h1>
<p>With scripts this page shows parameters and answers and sends requests. <a href="/openapi.json">The OpenAPI document</a> contains the same.</p>
<ul>
${operations}</ul>
</main>
</noscript>
</div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`)
}

const style = `body { margin: 0 }
body > header { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; padding: .75rem 1.25rem; font: 15px/1.5 system-ui, sans-serif }
body > header a { color: light-dark(#1a56c4, #8ab4ff) }
noscript { display: block; max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; font: 15px/1.5 system-ui, sans-serif }
.swagger-ui { overflow-wrap: break-word }
@media (max-width: 600px) { .swagger-ui .response-col_links { display: none } }
`

/** `validatorUrl: null` keeps the page from calling another host. The dark class is Swagger UI's own; its top bar, which is off, would set it. */
const start = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: true,
})
`

/** Swagger UI needs style attributes and data URLs for images; the policy allows nothing else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** Mounts the API reference, served by this server alone, and its OpenAPI document. The pages around it are in `pages/docs`. */
export function mountReference(
  { app, settings }: ApiContext,
  documented: Readonly<Record<string, RouteDefinition>>,
  sendFile: StaticFiles,
): void {
  const document = createStaticText(
    JSON.stringify(openApiDocument(documented, { serverUrl: settings.publicUrl })),
    'application/json; charset=utf-8',
  )
  app.get('/openapi.json', async (request, reply) => {
    request.operation = '/openapi.json'
    reply.header('access-control-allow-origin', '*')
    return sendStaticBody(await document(), request, reply, 'no-cache')
  })
  const texts = {
    '/docs/reference': ['text/html; charset=utf-8', renderPage(documented)],
    '/docs/reference.css': ['text/css; charset=utf-8', style],
    '/docs/start.js': ['text/javascript; charset=utf-8', start],
  } as const
  for (const [path, [contentType, text]] of Object.entries(texts)) {
    app.get(path, (request, reply) => {
      request.operation = path
      return reply.headers(pageHeaders).type(contentType).send(text)
    })
  }
  for (const [name, contentType] of Object.entries(assets)) {
    app.get(`/docs/${name}`, (request, reply) => {
      request.operation = `/docs/${name}`
      return sendFile(request, reply, new URL(name, folder), contentType)
    })
  }
}
