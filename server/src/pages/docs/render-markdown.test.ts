import { describe, expect, test } from 'vitest'
import { markupOf } from '../../lib/html.ts'
import { resolveLink } from './links.ts'
import { renderMarkdown } from './render-markdown.ts'

const render = (markdown: string) =>
  renderMarkdown(markdown, { resolve: (href) => resolveLink('docs/errors.md', href) })
const bodyOf = (markdown: string) =>
  markupOf(render(`# Page\n\n${markdown}`).body).replace('<h1 id="page">Page</h1>\n', '')

describe('Markdown of the documentation', () => {
  test.each([
    ['a script', '<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['inline HTML', 'a <img src=x onerror=alert(1)> b', '<p>a &lt;img src=x onerror=alert(1)&gt; b</p>'],
    ['code', '`<b>"&`', '<p><code>&lt;b&gt;&quot;&amp;</code></p>'],
    ['a link with a script', '[a](javascript:alert(1))', '<p>a</p>'],
    ['a link with data', '[a](data:text/html,x)', '<p>a</p>'],
    ['a quote in a link', '[a](https://x.y/"onclick="z)', '<p><a href="https://x.y/&quot;onclick=&quot;z">a</a></p>'],
    ['an image', '![a](https://x.y/z.png)', '<p>a</p>'],
  ])('shows %s as text', (_, markdown, expected) => {
    expect(bodyOf(markdown).trim()).toBe(expected)
  })

  test('drops comments', () => {
    expect(bodyOf('<!-- a note -->\n\na <!-- b --> c')).toBe('<p>a  c</p>\n')
  })

  test.each([
    ['lifecycle.md#clocks', '/docs/lifecycle#clocks'],
    ['partners/start.md', '/docs'],
    ['#codes', '#codes'],
    ['/docs/reference', '/docs/reference'],
    ['https://example.com/a', 'https://example.com/a'],
    ['settings.md', null],
    ['http://example.com', null],
  ])('resolves the link %s to %s', (href, expected) => {
    expect(resolveLink('docs/errors.md', href)).toBe(expected)
  })

  test('addresses headings as GitHub does, each once', () => {
    const { sections } = render('# A `b` & C\n\n## With viem, and more!\n\n## With viem, and more!\n\n### Über\n')
    expect(sections.map(({ id, depth }) => [id, depth])).toEqual([
      ['a-b--c', 1],
      ['with-viem-and-more', 2],
      ['with-viem-and-more-2', 2],
      ['über', 3],
    ])
  })

  test('addresses the rows of a table of codes, and leaves out columns and links for maintainers', () => {
    const body = bodyOf(
      '| code | means | test |\n|---|---|---|\n| `A_B` | x ([a test](../a.test.ts), [b](../b.test.ts)) | [t](../t.test.ts) |\n',
    )
    expect(body).toContain(
      '<tr id="A_B"><th scope="row"><a href="#A_B"><code>A_B</code></a></th><td data-name="means">x</td></tr>',
    )
    expect(body).toContain('<thead><tr><th scope="col">code</th><th scope="col">means</th></tr></thead>')
  })

  test('joins three code blocks in a row into one sample', () => {
    const sample = '```sh\na\n```\n```ts\nb\n```\n```python\nc\n```\n'
    expect(bodyOf(`${sample}\n\`\`\`text\nd\n\`\`\`\n`)).toMatch(
      /^<div class="samples">\n(<div class="code"[\s\S]*?<\/div>\n){3}<\/div>\n<div class="code" data-language="text">/,
    )
    expect(bodyOf('```sh\na\n```\n```ts\nb\n```\n')).not.toContain('samples')
  })

  test('collects the text of each section for the search', () => {
    const { summary, sections } = render(
      '# Page\n\nFirst *words*.\n\n## Part\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n',
    )
    expect(summary).toBe('First words.')
    expect(sections).toEqual([
      { id: 'page', title: 'Page', depth: 1, text: 'First words.' },
      { id: 'part', title: 'Part', depth: 2, text: 'one two c. d' },
    ])
  })
})
