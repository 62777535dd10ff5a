import { type Html, html } from '../../lib/html.ts'

export type Sample = Readonly<{ language: string; code: string }>

/** Three code blocks in a row, in these languages, are one sample. */
export const SAMPLE_LANGUAGES = ['sh', 'ts', 'python']
const names: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  python: 'Python',
  js: 'JavaScript',
  json: 'JSON',
  html: 'HTML',
  http: 'HTTP header',
  text: 'Output',
}

export const isSampleGroup = (samples: readonly Sample[]): boolean =>
  samples.map(({ language }) => language).join() === SAMPLE_LANGUAGES.join()

/** Without scripts all three are visible. The script of the site turns them into tabs. */
export const sampleGroup = (samples: readonly Sample[]): Html =>
  html`<div class="samples">\n${samples.map(codeBlock)}</div>\n`

export const codeBlock = ({ language, code }: Sample): Html =>
  html`<div class="code" data-language="${language}"><p class="language">${names[language] ?? language}</p><pre tabindex="0"><code>${code}</code></pre></div>\n`
