import type { CanarySite, CanaryText } from './canary-site.ts'

const MUST_FAIL = JSON.stringify('this test must fail: it shows that failures are seen')

/** A function in the form of the target's, and a TestCase where the targets' files have one. */
export function pytestCanary(site: CanarySite, word: string): CanaryText {
  const name = `${functionOf(site)}_${word}`
  // What selects tests by words looks at the attributes of their functions too.
  const words = [site.path.split('/').at(-1) ?? '', ...site.target.name.split('::')]
  const attributes = JSON.stringify(Object.fromEntries(words.map((each) => [each, 1])))
  const text = `def ${name}():
    raise AssertionError(${MUST_FAIL})


vars(${name}).update(${attributes})
`
  if (!/\bTestCase\b/.test(site.text)) return { text, tests: 1 }
  return { text: `${unittestCanary(site, word).text}\n\n${text}`, tests: 2 }
}

/** Fails as long as every assertion does what it says; without that it passes, which is seen. */
export function unittestCanary(site: CanarySite, word: string): CanaryText {
  const ofTarget = functionOf(site)
  const name = `${ofTarget.startsWith('test') ? ofTarget : 'test'}_${word}`
  const text = `import unittest


class Test${word}(unittest.TestCase):
    def ${name}(self):
        for each in (
            lambda: self.assertEqual(1, 2),
            lambda: self.assertTrue(False),
            lambda: self.assertFalse(True),
            lambda: self.assertIn(1, []),
            lambda: self.assertIsNone(1),
            lambda: self.assertIs(None, 1),
            lambda: self.assertNotEqual(1, 1),
            lambda: self.assertGreater(1, 2),
            lambda: self.assertRaises(ValueError, int),
            lambda: self.fail(),
        ):
            try:
                each()
            except self.failureException:
                continue
            return
        raise AssertionError(${MUST_FAIL})
`
  return { text, tests: 1 }
}

/** A configuration may want another start than test: the target's own name has it. */
function functionOf({ target, text }: CanarySite): string {
  const ofTarget = /^[A-Za-z_]\w*/.exec(target.name.split('::').at(-1) ?? '')?.[0]
  const isTest = !target.id.startsWith('file:') && ofTarget
  return isTest ? ofTarget : (/^\s*(?:async )?def (test\w*)/m.exec(text)?.[1] ?? 'test')
}
