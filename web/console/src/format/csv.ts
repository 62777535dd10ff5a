type Cell = string | number | null

/** Spreadsheets take a text that begins so as a formula, and names are chosen by partners. Amounts stay as they are. */
const isFormula = (text: string): boolean => /^[=+\-@\t\r]/.test(text) && !/^-?[0-9.]+$/.test(text)

function toCell(value: Cell | undefined): string {
  const text = String(value ?? '')
  const safe = isFormula(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** RFC 4180, with the names of the columns in the first row. */
export const toCsv = <Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, Cell>>[],
): string => [names, ...rows.map((row) => names.map((name) => row[name]))].map(toLine).join('')

const toLine = (cells: readonly (Cell | undefined)[]): string => `${cells.map(toCell).join(',')}\r\n`
