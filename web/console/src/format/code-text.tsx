import { Code } from '@mantine/core'

const PARTS = /`([^`]*)`|[^`]+/g

/** A description of the API: what stands between backticks is code. */
export const CodeText = ({ text }: Readonly<{ text: string }>) =>
  [...text.matchAll(PARTS)].map(({ 0: part, 1: code, index }) =>
    code === undefined ? part : <Code key={index}>{code}</Code>,
  )
