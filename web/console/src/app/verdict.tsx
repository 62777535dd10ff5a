import { Alert } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = Readonly<{ isGood: boolean; title: string; children: ReactNode }>

/** What a check found. The title has the color of the text, whose contrast suffices on both colors. */
export const Verdict = ({ isGood, title, children }: Props) => (
  <Alert
    color={isGood ? 'teal' : 'red'}
    role={isGood ? 'status' : 'alert'}
    title={title}
    styles={{ title: { color: 'var(--mantine-color-text)' } }}
  >
    {children}
  </Alert>
)
