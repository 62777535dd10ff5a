import { expect, test } from 'vitest'
import { html, markupOf } from './html.ts'

test('what is put into a page is text', () => {
  const odd = `<script>alert("1")</script>&'`
  expect(markupOf(html`<p title="${odd}">${odd}</p>`)).toBe(
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;</p>',
  )
})

test('pages are made of pages, lists of them, and nothing', () => {
  const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`)
  expect(markupOf(html`<ul>${items}</ul>${null}${7}${8n}`)).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>78')
})

test('an object that looks like a page is none', () => {
  const forged = JSON.parse('{"markup":"<b>"}')
  expect(markupOf(html`${forged}`)).not.toContain('<b>')
})
