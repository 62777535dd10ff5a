import { type Html, html, markupOf } from '../../lib/html.ts'
import type { Section } from './outline.ts'
import { docGroups, docPages, REFERENCE_PATH, referenceLinks, START_PATH } from './page-list.ts'
import type { MarkdownPage } from './render-markdown.ts'

export type Site = Readonly<{ publicUrl: string; isSandbox: boolean }>

/** The styles and scripts are files of this server: no inline code, no other host, no frames. */
export const sitePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A whole page of the documentation. */
export function docDocument(site: Site, path: string, page: MarkdownPage): string {
  const links = pageLinks(path)
  return siteDocument(site, {
    path,
    title: path === START_PATH ? page.title : `${page.title} – Swapyard`,
    summary: page.summary,
    body: html`<details class="menu">
<summary>Pages</summary>
<nav aria-label="Pages of the documentation">${links}</nav>
</details>
<div class="columns">
<nav class="side" aria-label="Pages of the documentation">${links}</nav>
<main id="content" tabindex="-1">
${page.body}${neighbours(path)}</main>
${onThisPage(page.sections)}</div>`,
  })
}

/** The frame of every page of the site. The search field exists with scripts only. */
export function siteDocument(
  { publicUrl, isSandbox }: Site,
  { path, title, summary, body }: Readonly<{ path: string; title: string; summary: string; body: Html }>,
): string {
  return markupOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary}">
<meta name="robots" content="${isSandbox ? 'noindex' : 'index'}">
<title>${title}</title>
<link rel="canonical" href="${publicUrl}${path}">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/docs.css">
<script type="module" src="/docs/assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="/">Swapyard</a>${isSandbox ? html`<span class="badge">Sandbox</span>` : null}
<div class="search" hidden></div>
<nav aria-label="Documentation"><a href="${START_PATH}">Guides</a> <a href="${REFERENCE_PATH}">Reference</a></nav>
</header>
${body}
</body>
</html>
`)
}

function pageLinks(current: string): Html {
  const link = (path: string, label: string) =>
    path === current
      ? html`<li><a href="${path}" aria-current="page">${label}</a></li>\n`
      : html`<li><a href="${path}">${label}</a></li>\n`
  const group = (name: string, links: readonly Html[]) => html`<p>${name}</p>\n<ul>\n${links}</ul>\n`
  return html`${docGroups.map(({ name, pages }) =>
    group(
      name,
      pages.map(({ path, label }) => link(path, label)),
    ),
  )}${group(
    'Reference',
    referenceLinks.map(({ path, label }) => link(path, label)),
  )}`
}

/** Links to the headings of the second level. */
function onThisPage(sections: readonly Section[]): Html | null {
  const shown = sections.filter(({ depth }) => depth === 2)
  if (shown.length < 2) return null
  return html`<nav class="contents" aria-label="On this page">
<p>On this page</p>
<ul>
${shown.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>
</nav>
`
}

function neighbours(path: string): Html {
  const at = docPages.findIndex((page) => page.path === path)
  const [previous, next] = [docPages[at - 1], docPages[at + 1]]
  return html`<nav class="neighbours" aria-label="Previous and next page">
${previous ? html`<a rel="prev" href="${previous.path}">← ${previous.label}</a>` : html`<span></span>`}
${next ? html`<a rel="next" href="${next.path}">${next.label} →</a>` : null}
</nav>
`
}
