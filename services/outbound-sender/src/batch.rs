//! Combines database work for several texts of a casino in one transaction. The work for one text
//! is called a question here. A question is answered at once if a transaction is free. If all
//! transactions are busy, new questions wait and are combined.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use seven_domain::CasinoId;
use seven_runtime::Error;
use tokio::sync::{Semaphore, oneshot};

/// Maximum number of questions in one transaction. It is limited because the transaction holds the
/// first question's locks until the last question is answered.
const MOST: usize = 16;

/// Collects questions of one kind, by casino.
#[derive(Debug)]
pub(crate) struct Batcher<Q, A> {
    places: Mutex<HashMap<CasinoId, Arc<CasinoBatch<Q, A>>>>,
    /// Maximum number of simultaneous transactions of a casino. With two, a text that arrives while
    /// one transaction is busy can use the other.
    abreast: usize,
}

#[derive(Debug)]
struct CasinoBatch<Q, A> {
    /// Permits for transactions. A caller holds one permit while it answers its own question and
    /// other callers' questions.
    turns: Semaphore,
    waiting: Mutex<Vec<Question<Q, A>>>,
    numbers: AtomicU64,
}

#[derive(Debug)]
struct Question<Q, A> {
    number: u64,
    question: Q,
    answer_tx: oneshot::Sender<A>,
}

// === impl Batcher ===

impl<Q: Clone, A> Batcher<Q, A> {
    /// Makes a batcher that uses at most half of the connections, so that other work can go on. A
    /// worker that serves a single casino has two connections, so it runs one transaction at a time
    /// (docs/performance.md).
    pub(crate) fn over(connections: usize) -> Self {
        Self {
            places: Mutex::default(),
            abreast: (connections / 2).max(1),
        }
    }

    /// Returns the answer to `question`. `answer` gets a connection from `lend` and answers
    /// questions in order. If `answer` fails, it must have changed nothing, because each question
    /// is then asked alone.
    pub(crate) async fn ask<C, L, F>(
        &self,
        casino: &CasinoId,
        question: Q,
        lend: impl Fn() -> L,
        answer: impl Fn(C, Vec<Q>) -> F,
    ) -> Result<A, Error>
    where
        L: Future<Output = Result<C, Error>>,
        F: Future<Output = Result<Vec<A>, Error>>,
    {
        let place = self.place(casino);
        let (number, mut answer_rx) = place.wait(question.clone());
        loop {
            let first = async { (place.turns.acquire().await, lend().await) };
            let (turn, connection) = tokio::select! {
                biased;
                answered = &mut answer_rx => match answered {
                    Ok(answered) => return Ok(answered),
                    // The task that took this question into its batch failed or was stopped.
                    Err(_) => break,
                },
                both = first => both,
            };
            let connection = match connection {
                Ok(connection) => connection,
                Err(error) if place.takes_back(number) => return Err(error),
                // Another task has this question in its batch. Waits for it, so that the answer is
                // not lost.
                Err(_) => {
                    drop(turn);
                    match answer_rx.await {
                        Ok(answered) => return Ok(answered),
                        Err(_) => break,
                    }
                }
            };
            let taken = place.take();
            if taken.is_empty() {
                // Another task has this question in its batch, and no other question waits.
                drop((turn, connection));
                match answer_rx.await {
                    Ok(answered) => return Ok(answered),
                    Err(_) => break,
                }
            }
            let only_this = taken.len() == 1 && taken[0].number == number;
            let (questions, answer_tx): (Vec<_>, Vec<_>) = taken
                .into_iter()
                .map(|asked| (asked.question, asked.answer_tx))
                .unzip();
            match answer(connection, questions).await {
                Ok(answers) => {
                    answer_tx
                        .into_iter()
                        .zip(answers)
                        .for_each(|(answer_tx, answer)| drop(answer_tx.send(answer)));
                }
                Err(error) if only_this => return Err(error),
                Err(_) => {}
            }
        }
        let answers = answer(lend().await?, vec![question]).await?;
        answers
            .into_iter()
            .next()
            .ok_or_else(|| Error::Other("a question had no answer".into()))
    }

    fn place(&self, casino: &CasinoId) -> Arc<CasinoBatch<Q, A>> {
        let mut places = locked(&self.places);
        if let Some(place) = places.get(casino) {
            return Arc::clone(place);
        }
        let place = Arc::new(CasinoBatch {
            turns: Semaphore::new(self.abreast),
            waiting: Mutex::default(),
            numbers: AtomicU64::new(0),
        });
        places.insert(casino.clone(), Arc::clone(&place));
        place
    }
}

impl<Q, A> CasinoBatch<Q, A> {
    /// Appends the question to the queue.
    fn wait(&self, question: Q) -> (u64, oneshot::Receiver<A>) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (answer_tx, answer_rx) = oneshot::channel();
        locked(&self.waiting).push(Question {
            number,
            question,
            answer_tx,
        });
        (number, answer_rx)
    }

    /// Removes the question from the queue; returns whether it was still there.
    fn takes_back(&self, number: u64) -> bool {
        let mut waiting = locked(&self.waiting);
        let before = waiting.len();
        waiting.retain(|asked| asked.number != number);
        waiting.len() < before
    }

    /// Takes the oldest questions whose callers still wait.
    fn take(&self) -> Vec<Question<Q, A>> {
        let mut waiting = locked(&self.waiting);
        waiting.retain(|asked| !asked.answer_tx.is_closed());
        let many = waiting.len().min(MOST);
        waiting.drain(..many).collect()
    }
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::join_all;

    /// Doubles numbers once it has a permit, and records which numbers it got together.
    struct Recorder {
        may: Semaphore,
        given: Mutex<Vec<Vec<u32>>>,
        unlucky: u32,
    }

    impl Recorder {
        fn new(unlucky: u32) -> Self {
            Self {
                may: Semaphore::new(0),
                given: Mutex::default(),
                unlucky,
            }
        }

        async fn double(&self, numbers: Vec<u32>) -> Result<Vec<u32>, Error> {
            locked(&self.given).push(numbers.clone());
            self.may.acquire().await.unwrap().forget();
            if numbers.contains(&self.unlucky) {
                return Err(Error::Other("unlucky".into()));
            }
            Ok(numbers.into_iter().map(|number| number * 2).collect())
        }

        fn given(&self) -> Vec<Vec<u32>> {
            locked(&self.given).clone()
        }
    }

    fn casino(name: &str) -> CasinoId {
        name.parse().unwrap()
    }

    async fn free() -> Result<(), Error> {
        Ok(())
    }

    async fn ask_all(
        together: &Batcher<u32, u32>,
        desk: &Recorder,
        numbers: std::ops::Range<u32>,
    ) -> Vec<Option<u32>> {
        let here = casino("here");
        let ask = |number| together.ask(&here, number, free, |(), numbers| desk.double(numbers));
        // No question is answered before all have been asked.
        let open = async {
            tokio::task::yield_now().await;
            desk.may.add_permits(100);
        };
        let (answers, ()) = tokio::join!(join_all(numbers.map(ask)), open);
        answers.into_iter().map(Result::ok).collect()
    }

    #[tokio::test]
    async fn what_comes_while_one_is_under_way_is_answered_together() {
        let (together, desk) = (Batcher::over(4), Recorder::new(u32::MAX));
        let answers = ask_all(&together, &desk, 1..4).await;
        assert_eq!(answers, [Some(2), Some(4), Some(6)]);
        assert_eq!(
            desk.given(),
            [vec![1], vec![2], vec![3]],
            "two at once, and the third when one of them is through"
        );
        let desk = Recorder::new(u32::MAX);
        let many = ask_all(&together, &desk, 10..34).await;
        assert!(
            many.iter()
                .copied()
                .eq((10..34).map(|number| Some(number * 2)))
        );
        let sizes: Vec<usize> = desk.given().iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, 1, MOST, 22 - MOST]);
    }

    #[tokio::test]
    async fn what_comes_while_one_waits_for_a_connection_is_taken_along() {
        let (together, desk, connections) =
            (Batcher::over(4), Recorder::new(u32::MAX), Semaphore::new(0));
        desk.may.add_permits(100);
        let here = casino("here");
        let lend = async || {
            connections
                .acquire()
                .await
                .map(|connection| connection.forget())
                .map_err(|e| Error::Other(e.to_string()))
        };
        let ask = |number| together.ask(&here, number, &lend, |(), numbers| desk.double(numbers));
        let come_free = async {
            tokio::task::yield_now().await;
            connections.add_permits(1);
        };
        let (answers, ()) = tokio::join!(join_all((1..6).map(ask)), come_free);
        assert!(answers.into_iter().map(Result::unwrap).eq([2, 4, 6, 8, 10]));
        assert_eq!(desk.given(), [vec![1, 2, 3, 4, 5]]);
        connections.close();
        let failed = together
            .ask(&here, 6, &lend, |(), numbers| desk.double(numbers))
            .await;
        assert!(
            failed.is_err(),
            "without a connection nobody is answered, and nobody waits"
        );
    }

    #[tokio::test]
    async fn who_gets_no_connection_is_told_by_who_has_his_question_in_hand() {
        let (together, desk) = (Batcher::over(4), Recorder::new(u32::MAX));
        let (here, comes, never) = (casino("here"), Semaphore::new(0), Semaphore::new(0));
        let lend = async |from: &Semaphore| {
            from.acquire()
                .await
                .map(drop)
                .map_err(|e| Error::Other(e.to_string()))
        };
        let first = together.ask(
            &here,
            1,
            || lend(&comes),
            |(), numbers| desk.double(numbers),
        );
        let second = together.ask(
            &here,
            2,
            || lend(&never),
            |(), numbers| desk.double(numbers),
        );
        let happens = async {
            comes.add_permits(1);
            while desk.given().is_empty() {
                tokio::task::yield_now().await;
            }
            never.close();
            tokio::task::yield_now().await;
            desk.may.add_permits(1);
        };
        let (first, second, ()) = tokio::join!(first, second, happens);
        assert_eq!((first.ok(), second.ok()), (Some(2), Some(4)));
        assert_eq!(desk.given(), [vec![1, 2]]);
    }

    #[tokio::test]
    async fn few_connections_take_one_transaction_at_a_time() {
        let (together, desk) = (Batcher::over(2), Recorder::new(u32::MAX));
        assert_eq!(
            ask_all(&together, &desk, 1..4).await,
            [Some(2), Some(4), Some(6)]
        );
        assert_eq!(desk.given(), [vec![1], vec![2, 3]]);
        assert_eq!(Batcher::<u32, u32>::over(1).abreast, 1);
    }

    #[tokio::test]
    async fn one_that_fails_takes_no_other_with_it() {
        let (together, desk) = (Batcher::over(4), Recorder::new(5));
        let answers = ask_all(&together, &desk, 1..9).await;
        let failed: Vec<u32> = (1..9)
            .zip(&answers)
            .filter(|(_, answer)| answer.is_none())
            .map(|(n, _)| n)
            .collect();
        assert_eq!(failed, [5], "{answers:?}");
        assert_eq!(ask_all(&together, &desk, 5..6).await, [None]);
        assert_eq!(
            ask_all(&together, &desk, 6..7).await,
            [Some(12)],
            "and what comes after it is answered"
        );
    }

    #[tokio::test]
    async fn one_casino_does_not_wait_for_another() {
        let (together, slow, fast) = (Batcher::over(4), Recorder::new(0), Recorder::new(0));
        fast.may.add_permits(1);
        let (here, there) = (casino("here"), casino("there"));
        let held = together.ask(&here, 1, free, |(), numbers| slow.double(numbers));
        let quick = together.ask(&there, 2, free, |(), numbers| fast.double(numbers));
        let answered = tokio::select! {
            biased;
            _ = held => None,
            answered = quick => answered.ok(),
        };
        assert_eq!(answered, Some(4));
    }

    #[tokio::test]
    async fn who_asked_and_went_away_holds_nobody_up() {
        let (together, desk) = (Batcher::over(4), Recorder::new(0));
        let here = casino("here");
        {
            // Two questions: the recorder has the first one and the second waits behind it when
            // both are dropped.
            let first = together.ask(&here, 1, free, |(), numbers| desk.double(numbers));
            let second = together.ask(&here, 2, free, |(), numbers| desk.double(numbers));
            tokio::select! {
                biased;
                _ = first => panic!("nobody may answer yet"),
                _ = second => panic!("nobody may answer yet"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert_eq!(ask_all(&together, &desk, 3..4).await, [Some(6)]);
        assert_eq!(
            desk.given().last(),
            Some(&vec![3]),
            "nobody waits for the others any more"
        );
    }
}
