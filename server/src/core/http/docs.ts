import { openApiDocument, type RouteDefinition } from '@swapyard/schema'
import { sendTagged } from './etag.ts'
import type { ApiContext } from './mount.ts'
import type { StaticFiles } from './static-files.ts'

/** RFC 9110 §15.4.9. */
const PERMANENT = 308

const folder = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'))
const assets: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Swapyard Partner Exchange API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<style>
body { margin: 0 }
.swagger-ui { overflow-wrap: break-word }
@media (max-width: 600px) { .swagger-ui .response-col_links { display: none } }
</style>
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
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

/** Mounts the API reference, served by this server alone, and its OpenAPI document. */
export function mountDocs(
  { app, settings }: ApiContext,
  documented: Readonly<Record<string, RouteDefinition>>,
  sendFile: StaticFiles,
): void {
  const document = JSON.stringify(openApiDocument(documented, { serverUrl: settings.publicUrl }))
  app.get('/openapi.json', (request, reply) => {
    request.operation = '/openapi.json'
    reply.header('access-control-allow-origin', '*')
    return sendTagged(request, reply, document)
  })
  app.get('/docs', (request, reply) => {
    request.operation = '/docs'
    return reply.headers(pageHeaders).type('text/html; charset=utf-8').send(page)
  })
  app.get('/docs/', (request, reply) => {
    request.operation = '/docs'
    return reply.redirect('/docs', PERMANENT)
  })
  app.get('/docs/start.js', (request, reply) => {
    request.operation = '/docs/start.js'
    return reply.headers(pageHeaders).type('text/javascript; charset=utf-8').send(start)
  })
  for (const [name, contentType] of Object.entries(assets)) {
    app.get(`/docs/${name}`, (request, reply) => {
      request.operation = `/docs/${name}`
      return sendFile(request, reply, new URL(name, folder), contentType)
    })
  }
}
