/**
 * What test runners and assertion libraries print around every failure. Two failures that share only
 * these share nothing, however rare the words are elsewhere. Names of errors other than a failed
 * assertion stay: they do tell.
 */
const PRINTED: Record<string, string> = {
  node: `
    assertionerror err_assertion assertion testcontext anonymous operator strictequal
    deepstrictequal notstrictequal deepequal generatedmessage testcodefailure failuretype location
    duration_ms subtest suite async.run test.run startsubtest`,
  python: `
    def assert self.assertequal self.asserttrue self.assertfalse assertequal testcase traceback recent
    call last self where testpaths rootdir collected captured stdout stderr setup teardown fixture`,
  browser: `
    expect tobe toequal tostrictequal tothrow tohavebeencalledwith toequalcontaining received describe
    vitest jest mocha vi.fn jest.fn object.is object.tobe`,
  go: 'got want testing.t t.run t.errorf t.fatalf trunner testing.go running goroutine created exit status',
  rust: 'thread panicked left right note backtrace rust_backtrace assertion',
  java: 'org.junit jupiter junit assertionfailederror org.opentest4j opentest4j org.assertj surefire',
  all: `
    test tests failed failing failures failure fail passed pass passing ok not error errors expected
    actual but was were result results expectation values value equal equals equality same strictly
    deeply loosely to be line file src lib in at true false`,
}

const words = new Set(Object.values(PRINTED).flatMap((text) => text.trim().split(/\s+/)))

export function isRunnerWord(term: string): boolean {
  return words.has(term)
}
