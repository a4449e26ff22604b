// Package tour has the tests of the guided tour, whose lessons are the files lesson-N.json of the page. A lesson has
//
//   - title, docs, code: its title, the headings of docs/how-informers-work.md that it is about, and the files to read;
//   - begin: what puts the laboratory in order, which is actions, and conditions to wait for;
//   - steps: captions, each with actions, conditions to wait for, numbers that stay the same, and a caption for what was seen;
//   - question: a question with answers, the number of the right one, and why it is right;
//   - end: actions that take back what the lesson has left.
//
// A text has two languages, side by side. A step points at a box, and may open a small picture. Conditions are about
// numbers of frames, such as "store.objects == was + 5"; condition.js of the page says how they are written. The page shows the numbers
// of a step's conditions, and those that stay the same. It does not wait for the latter, as another user of the laboratory may change
// them; the tests hold them to it. Each answer has conditions under which it would be true: those of the right one are met at the end
// of the lesson, and no others.
package tour
