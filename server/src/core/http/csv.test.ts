import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test('cells are quoted by RFC 4180, and none begins like a formula', () => {
  expect(csvLine(['a', 1, null, 'b,c', 'd"e', 'f\r\ng'])).toBe('a,1,,"b,c","d""e","f\r\ng"\r\n')
  for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx'])
    expect(csvLine([formula, 'x'])).toBe(`'${formula},x\r\n`)
  expect(csvLine(['=HYPERLINK("http://x","y")'])).toBe('"\'=HYPERLINK(""http://x"",""y"")"\r\n')
})
