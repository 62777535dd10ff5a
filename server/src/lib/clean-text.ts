/** Makes text printable and short: removes control, format (text direction) and unassigned characters, collapses white space. */
export function cleanText(text: string, maxLength: number): string | null {
  const printable = text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .trim()
  const cut = [...printable].slice(0, maxLength).join('').trim()
  return cut === '' ? null : cut
}
