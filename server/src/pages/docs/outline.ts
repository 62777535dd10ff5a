/** A part of a page with an address of its own. */
export type Section = Readonly<{
  id: string
  title: string
  /** 1 is the page itself, 2 and 3 are headings, 0 is a row of a table. */
  depth: number
  text: string
}>

/** Collects the sections of a page while it is rendered. */
export type Outline = Readonly<{
  addHeading(title: string, depth: number): string
  addRow(name: string, text: string): string
  /** Adds text to the section of the last heading. */
  addText(text: string): void
  sections(): Section[]
}>

export function createOutline(): Outline {
  const sections: { id: string; title: string; depth: number; texts: string[] }[] = []
  const ids = new Set<string>()

  function add(name: string, title: string, depth: number, texts: string[]): string {
    let id = name
    for (let count = 2; ids.has(id); count += 1) id = `${name}-${count}`
    ids.add(id)
    sections.push({ id, title, depth, texts })
    return id
  }

  return {
    addHeading: (title, depth) => add(toSlug(title), title, depth, []),
    addRow: (name, text) => add(name, name, 0, [text]),
    addText: (text) => void sections.findLast(({ depth }) => depth > 0)?.texts.push(text),
    sections: () => sections.map(({ texts, ...section }) => ({ ...section, text: texts.join(' ') })),
  }
}

/** As GitHub makes the addresses of headings, so that a link works in both. */
const toSlug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
